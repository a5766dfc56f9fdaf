#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch {

/// One value of an enumeration and its one spelling in code, SQL, JSON and pages.
template <typename Enum>
struct Word {
  Enum value;
  std::string_view spelling;
};

/// The words of an enumeration. A specialisation holds `kKind`, which names the enumeration in
/// errors, and `kAll`, an array of `Word`.
template <typename Enum>
struct Words;

/// Returns the value's spelling, or "?" for a value that the table lacks.
template <typename Enum>
constexpr std::string_view spelling(Enum value) {
  for (const auto& word : Words<Enum>::kAll) {
    if (word.value == value) return word.spelling;
  }
  return "?";
}

/// Returns the words of an enumeration that to_string spells, in their order.
template <typename Enum>
std::vector<std::string> words_of() {
  std::vector<std::string> words;
  for (int i = 0; to_string(static_cast<Enum>(i)) != "?"; ++i) {
    words.emplace_back(to_string(static_cast<Enum>(i)));
  }
  return words;
}

/// Returns the value that is spelled so. Errors: invalid, with every word that is allowed.
template <typename Enum>
Result<Enum> parse_word(std::string_view text) {
  std::string allowed;
  for (const auto& word : Words<Enum>::kAll) {
    if (word.spelling == text) return word.value;
    allowed.append(allowed.empty() ? "" : ", ").append(word.spelling);
  }
  return fail(ErrorCode::invalid, std::string(Words<Enum>::kKind) + " \"" + std::string(text) +
                                      "\" is not known; allowed: " + allowed);
}

template <>
struct Words<Device> {
  static constexpr std::string_view kKind = "device";
  static constexpr std::array kAll{Word{Device::cpu, "cpu"}, Word{Device::cuda, "cuda"}};
};

template <>
struct Words<Mode> {
  static constexpr std::string_view kKind = "mode";
  static constexpr std::array kAll{Word{Mode::train, "train"}, Word{Mode::infer, "infer"}};
};

template <>
struct Words<Preset> {
  static constexpr std::string_view kKind = "preset";
  static constexpr std::array kAll{Word{Preset::paper, "paper"}, Word{Preset::small, "small"}};
};

template <>
struct Words<Precision> {
  static constexpr std::string_view kKind = "precision";
  static constexpr std::array kAll{Word{Precision::fp32, "fp32"}, Word{Precision::tf32, "tf32"},
                                   Word{Precision::fp16, "fp16"}, Word{Precision::bf16, "bf16"},
                                   Word{Precision::amp, "amp"}};
};

template <>
struct Words<Backend> {
  static constexpr std::string_view kKind = "backend";
  static constexpr std::array kAll{Word{Backend::eager, "eager"},
                                   Word{Backend::torchscript, "torchscript"},
                                   Word{Backend::aot_inductor, "aot_inductor"}};
};

template <>
struct Words<Pass> {
  static constexpr std::string_view kKind = "pass";
  static constexpr std::array kAll{Word{Pass::timing, "timing"},   Word{Pass::memory, "memory"},
                                   Word{Pass::profile, "profile"}, Word{Pass::coverage, "coverage"},
                                   Word{Pass::flops, "flops"},     Word{Pass::peak, "peak"}};
};

template <>
struct Words<Metric> {
  static constexpr std::string_view kKind = "metric";
  static constexpr std::array kAll{Word{Metric::time, "time"},
                                   Word{Metric::device_time, "device_time"},
                                   Word{Metric::cpu_peak, "cpu_peak"},
                                   Word{Metric::device_peak, "device_peak"},
                                   Word{Metric::cpu_peak_resident, "cpu_peak_resident"},
                                   Word{Metric::device_peak_total, "device_peak_total"},
                                   Word{Metric::leak_growth, "leak_growth"},
                                   Word{Metric::leak_retained, "leak_retained"},
                                   Word{Metric::heap_growth, "heap_growth"},
                                   Word{Metric::output_difference, "output_difference"},
                                   Word{Metric::first_iteration, "first_iteration"},
                                   Word{Metric::throughput, "throughput"},
                                   Word{Metric::compile_time, "compile_time"},
                                   Word{Metric::compile_peak, "compile_peak"},
                                   Word{Metric::package_size, "package_size"}};
};

template <>
struct Words<Verdict> {
  static constexpr std::string_view kKind = "verdict";
  static constexpr std::array kAll{
      Word{Verdict::unchanged, "unchanged"},     Word{Verdict::regressed, "regressed"},
      Word{Verdict::improved, "improved"},       Word{Verdict::inconclusive, "inconclusive"},
      Word{Verdict::unsupported, "unsupported"}, Word{Verdict::failed, "failed"}};
};

template <>
struct Words<RunStatus> {
  static constexpr std::string_view kKind = "status";
  static constexpr std::array kAll{Word{RunStatus::ok, "ok"},
                                   Word{RunStatus::unsupported, "unsupported"},
                                   Word{RunStatus::failed, "failed"}};
};

template <>
struct Words<IncidentKind> {
  static constexpr std::string_view kKind = "incident kind";
  static constexpr std::array kAll{
      Word{IncidentKind::regression, "regression"}, Word{IncidentKind::leak, "leak"},
      Word{IncidentKind::result, "result"}, Word{IncidentKind::lost, "lost"}};
};

}  // namespace torchwatch
