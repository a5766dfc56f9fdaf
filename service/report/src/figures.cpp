#include "figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "torchwatch/report/issue.hpp"

namespace torchwatch::report {
namespace {

std::string format(const char* pattern, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), pattern, value);  // NOLINT: the pattern is ours
  return text.data();
}

struct Scale {
  double factor;
  const char* unit;
};
constexpr std::array kTimes{Scale{1, "ns"}, Scale{1e3, "µs"}, Scale{1e6, "ms"}, Scale{1e9, "s"}};
constexpr std::array kSizes{Scale{1, "bytes"}, Scale{1024.0, "KiB"}, Scale{1048576.0, "MiB"},
                            Scale{1073741824.0, "GiB"}};

template <typename Scales>
std::string scaled(double value, const Scales& scales) {
  const Scale* chosen = &scales[0];
  for (const auto& scale : scales) {
    if (std::abs(value) >= scale.factor) chosen = &scale;
  }
  return format("%.4g", value / chosen->factor) + " " + chosen->unit;
}

constexpr std::string_view kPercent = " %";
constexpr double kFoldFrom = 3.0;  ///< from here "x3.00" reads better than "+200 %"

/// `round` decides which way the last printed digit goes.
std::string ratio_rounded(double ratio, double (*round)(double)) {
  // A speck less than half a unit of double keeps 1.151 from becoming 15.2 by representation.
  const auto at = [round](double value, double unit) {
    const double nearest = std::round(value / unit);
    const bool exact = std::abs(value / unit - nearest) < 1e-9 * std::max(1.0, std::abs(nearest));
    return (exact ? nearest : round(value / unit)) * unit;
  };
  if (ratio >= kFoldFrom) return "x" + format("%.2f", at(ratio, 0.01));
  return format("%+.1f %%", at((ratio - 1) * 100, 0.1) + 0.0);
}

double nearest(double value) {
  return std::round(value);
}
double down(double value) {
  return std::floor(value);
}
double up(double value) {
  return std::ceil(value);
}

double leak_of(const EffectFacts& effect) {
  return effect.candidate_value - effect.baseline_value;
}

}  // namespace

bool is_memory(Metric metric) {
  return pass_of(metric) == Pass::memory;
}

std::string with_thousands(double whole_number) {
  std::string digits = format("%.0f", std::abs(whole_number));
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  const bool negative = std::round(whole_number) < 0;
  return negative ? "-" + digits : digits;
}

std::string human_ratio(double ratio) {
  return ratio_rounded(ratio, nearest);
}

bool has_interval(const EffectFacts& effect) {
  return effect.interval_low > 0 && std::isfinite(effect.interval_high) &&
         effect.interval_high >= effect.interval_low;
}

std::string human_interval(const EffectFacts& effect) {
  if (is_leak(effect.target.metric) || !has_interval(effect)) return "";
  std::string low = ratio_rounded(effect.interval_low, down);
  std::string high = ratio_rounded(effect.interval_high, up);
  if (low.ends_with(kPercent) && high.ends_with(kPercent)) {
    low.resize(low.size() - kPercent.size());
    high.resize(high.size() - kPercent.size());
  }
  return "[" + low + ", " + high + "]";
}

std::string human_spread(double spread) {
  if (!std::isfinite(spread) || spread < 0) return "unknown";
  return format("%.1f %%", std::max(0.0, std::ceil(spread * 1000 - 1e-9)) / 10);
}

std::string human_confidence(double confidence) {
  if (!(confidence > 0)) return "unknown";
  if (confidence >= 0.9995) return "more than 99.9 %";
  return format("%.4g %%", std::floor(confidence * 1000 + 1e-9) / 10);
}

std::string human_share(double share) {
  return format("%.3g %%", share * 100);
}

bool is_sure_increase(const EffectFacts& effect) {
  if (is_leak(effect.target.metric)) return leak_of(effect) > 0;
  return has_interval(effect) && effect.interval_low > 1;
}

std::string_view metric_for_people(Metric metric) {
  switch (metric) {
    case Metric::time:
      return "time per iteration";
    case Metric::device_time:
      return "device time per iteration";
    case Metric::cpu_peak:
      return "peak memory of the CPU allocator";
    case Metric::device_peak:
      return "peak memory of the device's allocator";
    case Metric::cpu_peak_resident:
      return "peak resident memory";
    case Metric::device_peak_total:
      return "peak memory of the whole device";
    case Metric::leak_growth:
      return "memory kept per iteration";
    case Metric::leak_retained:
      return "memory left after the model is destroyed";
    case Metric::heap_growth:
      return "heap beside LibTorch's allocator kept per iteration";
  }
  return "value";
}

bool is_larger(const EffectFacts& left, const EffectFacts& right) {
  const bool left_leaks = is_leak(left.target.metric);
  if (left_leaks != is_leak(right.target.metric)) return left_leaks;
  return left_leaks ? leak_of(left) > leak_of(right) : left.ratio > right.ratio;
}

std::string human_value(Metric metric, double value) {
  if (!std::isfinite(value)) return "unknown";
  if (pass_of(metric) == Pass::timing) return scaled(value, kTimes);
  // Memory that is kept is small: every byte of it is shown.
  if (is_leak(metric)) return with_thousands(value) + " " + std::string(unit_of(metric));
  return scaled(value, kSizes);
}

std::string human_effect(const EffectFacts& effect) {
  if (is_leak(effect.target.metric)) {
    const double leak = leak_of(effect);
    return (leak > 0 ? "+" : "") + human_value(effect.target.metric, leak);
  }
  if (!(effect.ratio > 0)) return "no value";
  const std::string ratio = human_ratio(effect.ratio);
  const std::string interval = human_interval(effect);
  return interval.empty() ? ratio + " (interval unknown: too few runs)" : ratio + " " + interval;
}

}  // namespace torchwatch::report
