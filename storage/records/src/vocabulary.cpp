#include "torchwatch/records/vocabulary.hpp"

#include <algorithm>
#include <charconv>

#include "torchwatch/records/words.hpp"

namespace torchwatch {

namespace {

// What a runner takes: runner/protocol/src/request_json.cpp.
constexpr int kBatchMax = 1 << 24;
constexpr int kThreadsMax = 4096;
constexpr std::size_t kOperatorNameMax = 100;

Result<int> parse_count(std::string_view name, std::string_view text, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most) {
    return fail(ErrorCode::invalid, std::string(name) + " \"" + std::string(text) +
                                        "\" must be a whole number from 1 to " +
                                        std::to_string(most));
  }
  return value;
}

/// Reads "aten::add_", "torchvision::nms": a name space, two colons and a name.
Result<std::string> parse_operator_name(std::string_view text) {
  const auto is_word = [](std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
  };
  const auto colons = std::min(text.find("::"), text.size());
  const auto name = text.substr(std::min(colons + 2, text.size()));
  if (text.size() <= kOperatorNameMax && is_word(text.substr(0, colons)) && is_word(name)) {
    return std::string(text);
  }
  return fail(ErrorCode::invalid, "operator \"" + std::string(text) +
                                      "\" must be a name as LibTorch has it, such as aten::gelu");
}

/// Whether a part of a variant changed what an earlier part had set.
bool says_twice(const Variant& before, const Variant& after) {
  const Variant unset;
  const auto is_changed = [&](auto Variant::* member) {
    return before.*member != unset.*member && after.*member != before.*member;
  };
  return is_changed(&Variant::precision) || is_changed(&Variant::backend) ||
         is_changed(&Variant::batch) || is_changed(&Variant::threads) ||
         is_changed(&Variant::operator_name);
}

/// The long form of a word: "backend=aot_inductor".
Status apply_word(Variant& variant, std::string_view name, std::string_view word) {
  if (name == "precision=") {
    TW_TRY(variant.precision, parse_precision(word));
  } else {
    TW_TRY(variant.backend, parse_backend(word));
  }
  return {};
}

Status apply_variant_part(Variant& variant, std::string_view part) {
  if (part.starts_with("batch=")) {
    TW_TRY(variant.batch, parse_count("batch", part.substr(6), kBatchMax));
    return {};
  }
  if (part.starts_with("threads=")) {
    TW_TRY(variant.threads, parse_count("threads", part.substr(8), kThreadsMax));
    return {};
  }
  if (part.starts_with("operator=")) {
    TW_TRY(variant.operator_name, parse_operator_name(part.substr(9)));
    return {};
  }
  for (const std::string_view name : {"precision=", "backend="}) {
    if (part.starts_with(name)) return apply_word(variant, name, part.substr(name.size()));
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
                  "(eager, torchscript, aot_inductor), batch=N, threads=N, operator=NAME");
}

}  // namespace

std::string_view to_string(Device value) {
  return spelling(value);
}
std::string_view to_string(Mode value) {
  return spelling(value);
}
std::string_view to_string(Preset value) {
  return spelling(value);
}
std::string_view to_string(Precision value) {
  return spelling(value);
}
std::string_view to_string(Backend value) {
  return spelling(value);
}
std::string_view to_string(Pass value) {
  return spelling(value);
}
std::string_view to_string(Metric value) {
  return spelling(value);
}
std::string_view to_string(Verdict value) {
  return spelling(value);
}
std::string_view to_string(RunStatus value) {
  return spelling(value);
}
std::string_view to_string(IncidentKind value) {
  return spelling(value);
}

Result<Device> parse_device(std::string_view text) {
  return parse_word<Device>(text);
}
Result<Mode> parse_mode(std::string_view text) {
  return parse_word<Mode>(text);
}
Result<Preset> parse_preset(std::string_view text) {
  return parse_word<Preset>(text);
}
Result<Precision> parse_precision(std::string_view text) {
  return parse_word<Precision>(text);
}
Result<Backend> parse_backend(std::string_view text) {
  return parse_word<Backend>(text);
}
Result<Pass> parse_pass(std::string_view text) {
  return parse_word<Pass>(text);
}
Result<Metric> parse_metric(std::string_view text) {
  return parse_word<Metric>(text);
}
Result<Metric> parse_judged_metric(std::string_view text) {
  std::string allowed;
  for (const auto& word : Words<Metric>::kAll) {
    if (!is_judged(word.value)) continue;
    if (word.spelling == text) return word.value;
    allowed.append(allowed.empty() ? "" : ", ").append(word.spelling);
  }
  const auto shown = parse_metric(text);
  const auto why =
      shown ? "shown beside " + std::string(to_string(shown_with(*shown))) + " and not judged"
            : "not known";
  return fail(ErrorCode::invalid,
              "metric \"" + std::string(text) + "\" is " + why + "; allowed: " + allowed);
}
Result<RunStatus> parse_run_status(std::string_view text) {
  return parse_word<RunStatus>(text);
}

std::string to_string(Configuration configuration) {
  return std::string(to_string(configuration.device)) + "-" +
         std::string(to_string(configuration.mode));
}

Result<Configuration> parse_configuration(std::string_view text) {
  const auto dash = std::min(text.find('-'), text.size());
  const auto device = parse_device(text.substr(0, dash));
  const auto mode = parse_mode(text.substr(std::min(dash + 1, text.size())));
  if (device && mode) return Configuration{*device, *mode};
  return fail(ErrorCode::invalid,
              "configuration \"" + std::string(text) +
                  "\" is not known; allowed: cpu-train, cpu-infer, cuda-train, cuda-infer");
}

std::string to_string(const Variant& variant) {
  std::string text;
  const auto add = [&text](std::string part) { text += (text.empty() ? "" : ",") + part; };
  if (variant.precision != Precision::fp32) add(std::string(to_string(variant.precision)));
  if (variant.backend != Backend::eager) add(std::string(to_string(variant.backend)));
  if (variant.batch != 0) add("batch=" + std::to_string(variant.batch));
  if (variant.threads != 0) add("threads=" + std::to_string(variant.threads));
  if (!variant.operator_name.empty()) add("operator=" + variant.operator_name);
  return text.empty() ? "default" : text;
}

Result<Variant> parse_variant(std::string_view text) {
  Variant variant;
  if (text == "default") return variant;
  const std::string whole(text);
  while (true) {
    const auto comma = text.find(',');
    const auto before = variant;
    TW_TRY_VOID(apply_variant_part(variant, text.substr(0, comma)));
    if (says_twice(before, variant)) {
      return fail(ErrorCode::invalid,
                  "variant \"" + whole +
                      "\" says one thing twice; a variant has one precision, "
                      "one backend, one batch=N, one threads=N and one operator=NAME, and "
                      "several variants are several --variant");
    }
    if (comma == std::string_view::npos) return variant;
    text.remove_prefix(comma + 1);
  }
}

std::string to_string(const Benchmark& benchmark) {
  std::string text = benchmark.workload + " " + to_string(benchmark.configuration);
  if (benchmark.variant != Variant{}) text += " " + to_string(benchmark.variant);
  return text;
}

bool is_of_operator(const Benchmark& benchmark) {
  return !benchmark.variant.operator_name.empty();
}

Benchmark whole_of(Benchmark benchmark) {
  benchmark.variant.operator_name.clear();
  return benchmark;
}

std::string to_string(const Series& series) {
  return to_string(series.benchmark) + " " + std::string(to_string(series.metric));
}

bool is_judged(Metric metric) {
  return shown_with(metric) == metric;
}

Metric shown_with(Metric metric) {
  switch (metric) {
    case Metric::first_iteration:
    case Metric::throughput:
    case Metric::compile_time:
      return Metric::time;
    case Metric::compile_peak:
    case Metric::package_size:
      return Metric::cpu_peak;
    default:
      return metric;
  }
}

std::vector<Metric> metrics_beside(Metric judged) {
  std::vector<Metric> beside;
  for (const auto& word : Words<Metric>::kAll) {
    const auto metric = word.value;
    if (!is_judged(metric) && shown_with(metric) == judged) beside.push_back(metric);
  }
  return beside;
}

const std::vector<Metric>& judged_metrics_of(Device device) {
  static const std::vector<Metric> kCpu{
      Metric::time,          Metric::cpu_peak,    Metric::cpu_peak_resident, Metric::leak_growth,
      Metric::leak_retained, Metric::heap_growth, Metric::output_difference};
  static const std::vector<Metric> kCuda{Metric::time,
                                         Metric::device_time,
                                         Metric::cpu_peak,
                                         Metric::device_peak,
                                         Metric::cpu_peak_resident,
                                         Metric::device_peak_total,
                                         Metric::leak_growth,
                                         Metric::leak_retained,
                                         Metric::heap_growth,
                                         Metric::output_difference};
  return device == Device::cpu ? kCpu : kCuda;
}

Pass pass_of(Metric metric) {
  const auto with = shown_with(metric);
  return with == Metric::time || with == Metric::device_time ? Pass::timing : Pass::memory;
}

bool is_leak(Metric metric) {
  return is_growth(metric) || metric == Metric::leak_retained;
}

bool is_growth(Metric metric) {
  return metric == Metric::leak_growth || metric == Metric::heap_growth;
}

bool has_ratio(Metric metric) {
  return !is_leak(metric) && metric != Metric::output_difference;
}

std::string_view unit_of(Metric metric) {
  if (metric == Metric::output_difference) return "1e-9";
  if (metric == Metric::throughput) return "items/1000 s";
  if (pass_of(metric) == Pass::timing) return "ns";
  return is_growth(metric) ? "bytes/iteration" : "bytes";
}

}  // namespace torchwatch
