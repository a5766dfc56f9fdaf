#include "torchwatch/records/vocabulary.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace torchwatch {
namespace {

template <typename Enum>
struct Word {
  Enum value;
  std::string_view spelling;
};

constexpr std::array kDevices{Word{Device::cpu, "cpu"}, Word{Device::cuda, "cuda"}};
constexpr std::array kModes{Word{Mode::train, "train"}, Word{Mode::infer, "infer"}};
constexpr std::array kPresets{Word{Preset::paper, "paper"}, Word{Preset::small, "small"}};
constexpr std::array kPrecisions{Word{Precision::fp32, "fp32"}, Word{Precision::tf32, "tf32"},
                                 Word{Precision::fp16, "fp16"}, Word{Precision::bf16, "bf16"},
                                 Word{Precision::amp, "amp"}};
constexpr std::array kBackends{Word{Backend::eager, "eager"},
                               Word{Backend::torchscript, "torchscript"},
                               Word{Backend::aot_inductor, "aot_inductor"}};
constexpr std::array kPasses{Word{Pass::timing, "timing"}, Word{Pass::memory, "memory"},
                             Word{Pass::profile, "profile"}, Word{Pass::coverage, "coverage"}};
constexpr std::array kMetrics{Word{Metric::time, "time"},
                              Word{Metric::device_time, "device_time"},
                              Word{Metric::cpu_peak, "cpu_peak"},
                              Word{Metric::device_peak, "device_peak"},
                              Word{Metric::cpu_peak_resident, "cpu_peak_resident"},
                              Word{Metric::device_peak_total, "device_peak_total"},
                              Word{Metric::leak_growth, "leak_growth"},
                              Word{Metric::leak_retained, "leak_retained"},
                              Word{Metric::heap_growth, "heap_growth"}};
constexpr std::array kVerdicts{
    Word{Verdict::unchanged, "unchanged"},     Word{Verdict::regressed, "regressed"},
    Word{Verdict::improved, "improved"},       Word{Verdict::inconclusive, "inconclusive"},
    Word{Verdict::unsupported, "unsupported"}, Word{Verdict::failed, "failed"}};
constexpr std::array kRunStatuses{Word{RunStatus::ok, "ok"},
                                  Word{RunStatus::unsupported, "unsupported"},
                                  Word{RunStatus::failed, "failed"}};
constexpr std::array kIncidentKinds{Word{IncidentKind::regression, "regression"},
                                    Word{IncidentKind::leak, "leak"},
                                    Word{IncidentKind::lost, "lost"}};

template <typename Table, typename Enum>
std::string_view spell(const Table& table, Enum value) {
  for (const auto& word : table) {
    if (word.value == value) return word.spelling;
  }
  return "?";
}

template <typename Table>
auto parse(const Table& table, std::string_view kind, std::string_view text)
    -> Result<decltype(table[0].value)> {
  std::string allowed;
  for (const auto& word : table) {
    if (word.spelling == text) return word.value;
    allowed += (allowed.empty() ? "" : ", ") + std::string(word.spelling);
  }
  return fail(ErrorCode::invalid, std::string(kind) + " \"" + std::string(text) +
                                      "\" is not known; allowed: " + allowed);
}

Result<int> parse_count(std::string_view name, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) {
    return fail(ErrorCode::invalid,
                std::string(name) + " \"" + std::string(text) + "\" must be a whole number from 1");
  }
  return value;
}

Status apply_variant_part(Variant& variant, std::string_view part) {
  if (part.starts_with("batch=")) {
    TW_TRY(variant.batch, parse_count("batch", part.substr(6)));
    return {};
  }
  if (part.starts_with("threads=")) {
    TW_TRY(variant.threads, parse_count("threads", part.substr(8)));
    return {};
  }
  if (const auto precision = parse_precision(part)) {
    variant.precision = *precision;
    return {};
  }
  if (const auto backend = parse_backend(part)) {
    variant.backend = *backend;
    return {};
  }
  return fail(ErrorCode::invalid,
              "variant part \"" + std::string(part) +
                  "\" is not known; allowed: a precision (fp32, tf32, fp16, bf16, amp), a backend "
                  "(eager, torchscript, aot_inductor), batch=N, threads=N");
}

}  // namespace

std::string_view to_string(Device value) {
  return spell(kDevices, value);
}
std::string_view to_string(Mode value) {
  return spell(kModes, value);
}
std::string_view to_string(Preset value) {
  return spell(kPresets, value);
}
std::string_view to_string(Precision value) {
  return spell(kPrecisions, value);
}
std::string_view to_string(Backend value) {
  return spell(kBackends, value);
}
std::string_view to_string(Pass value) {
  return spell(kPasses, value);
}
std::string_view to_string(Metric value) {
  return spell(kMetrics, value);
}
std::string_view to_string(Verdict value) {
  return spell(kVerdicts, value);
}
std::string_view to_string(RunStatus value) {
  return spell(kRunStatuses, value);
}
std::string_view to_string(IncidentKind value) {
  return spell(kIncidentKinds, value);
}

Result<Device> parse_device(std::string_view text) {
  return parse(kDevices, "device", text);
}
Result<Mode> parse_mode(std::string_view text) {
  return parse(kModes, "mode", text);
}
Result<Preset> parse_preset(std::string_view text) {
  return parse(kPresets, "preset", text);
}
Result<Precision> parse_precision(std::string_view text) {
  return parse(kPrecisions, "precision", text);
}
Result<Backend> parse_backend(std::string_view text) {
  return parse(kBackends, "backend", text);
}
Result<Pass> parse_pass(std::string_view text) {
  return parse(kPasses, "pass", text);
}
Result<Metric> parse_metric(std::string_view text) {
  return parse(kMetrics, "metric", text);
}
Result<Verdict> parse_verdict(std::string_view text) {
  return parse(kVerdicts, "verdict", text);
}
Result<RunStatus> parse_run_status(std::string_view text) {
  return parse(kRunStatuses, "status", text);
}
Result<IncidentKind> parse_incident_kind(std::string_view text) {
  return parse(kIncidentKinds, "incident kind", text);
}

std::string to_string(Configuration configuration) {
  return std::string(to_string(configuration.device)) + "-" +
         std::string(to_string(configuration.mode));
}

Result<Configuration> parse_configuration(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) {
    return fail(ErrorCode::invalid,
                "configuration \"" + std::string(text) +
                    "\" is not known; allowed: cpu-train, cpu-infer, cuda-train, cuda-infer");
  }
  TW_TRY(const Device device, parse_device(text.substr(0, dash)));
  TW_TRY(const Mode mode, parse_mode(text.substr(dash + 1)));
  return Configuration{device, mode};
}

std::string to_string(const Variant& variant) {
  std::string text;
  const auto add = [&text](std::string part) { text += (text.empty() ? "" : ",") + part; };
  if (variant.precision != Precision::fp32) add(std::string(to_string(variant.precision)));
  if (variant.backend != Backend::eager) add(std::string(to_string(variant.backend)));
  if (variant.batch != 0) add("batch=" + std::to_string(variant.batch));
  if (variant.threads != 0) add("threads=" + std::to_string(variant.threads));
  return text.empty() ? "default" : text;
}

Result<Variant> parse_variant(std::string_view text) {
  Variant variant;
  if (text == "default") return variant;
  while (true) {
    const auto comma = text.find(',');
    TW_TRY_VOID(apply_variant_part(variant, text.substr(0, comma)));
    if (comma == std::string_view::npos) return variant;
    text.remove_prefix(comma + 1);
  }
}

std::string to_string(const Cell& cell) {
  std::string text = cell.workload + " " + to_string(cell.configuration);
  if (cell.variant != Variant{}) text += " " + to_string(cell.variant);
  return text;
}

std::string to_string(const Target& target) {
  return to_string(target.cell) + " " + std::string(to_string(target.metric));
}

Pass pass_of(Metric metric) {
  return metric == Metric::time || metric == Metric::device_time ? Pass::timing : Pass::memory;
}

bool is_leak(Metric metric) {
  return is_growth(metric) || metric == Metric::leak_retained;
}

bool is_growth(Metric metric) {
  return metric == Metric::leak_growth || metric == Metric::heap_growth;
}

std::string_view unit_of(Metric metric) {
  if (pass_of(metric) == Pass::timing) return "ns";
  return is_growth(metric) ? "bytes/iteration" : "bytes";
}

}  // namespace torchwatch
