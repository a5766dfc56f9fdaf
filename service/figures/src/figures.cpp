#include "torchwatch/figures/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace torchwatch::figures {
namespace {

struct Scale {
  double factor;
  std::string_view unit;
};
constexpr std::array kTimes{Scale{1, "ns"}, Scale{1e3, "µs"}, Scale{1e6, "ms"}, Scale{1e9, "s"}};
constexpr std::array kSizes{Scale{1, "bytes"}, Scale{1024.0, "KiB"}, Scale{1048576.0, "MiB"},
                            Scale{1073741824.0, "GiB"}, Scale{1099511627776.0, "TiB"}};

template <typename Scales>
std::string scaled(double value, const Scales& scales) {
  const Scale* chosen = &scales[0];
  for (const auto& scale : scales) {
    if (std::abs(value) >= scale.factor) chosen = &scale;
  }
  return fmt::format("{} {}", number(value / chosen->factor), chosen->unit);
}

/// Throughput is stored in items of 1,000 s: a slow network has less than one a second.
constexpr double kThroughputScale = 1000;

constexpr std::string_view kPercent = " %";
constexpr double kFoldFrom = 3.0;  ///< from here "x3.00" reads better than "+200 %"

enum class Rounding { nearest, down, up };

/// A speck less than half a unit of double keeps 1.151 from becoming 15.2 by representation.
double rounded(double value, double unit, Rounding rounding) {
  const double units = value / unit;
  const double nearest = std::round(units);
  const bool is_exact = std::abs(units - nearest) < 1e-9 * std::max(1.0, std::abs(nearest));
  if (is_exact || rounding == Rounding::nearest) return nearest * unit;
  return (rounding == Rounding::down ? std::floor(units) : std::ceil(units)) * unit;
}

std::string ratio_text(double ratio, Rounding rounding) {
  if (ratio >= kFoldFrom) return fmt::format("x{:.2f}", rounded(ratio, 0.01, rounding));
  return fmt::format("{:+.1f} %", rounded((ratio - 1) * 100, 0.1, rounding) + 0.0);  // no "-0.0"
}

/// "38 %", "0.00012 %": two digits, however small.
std::string billionths(double value) {
  const double per_cent = std::round(value) * 1e-7;
  if (per_cent == 0) return "0 %";
  const auto digits = 1 - static_cast<int>(std::floor(std::log10(std::abs(per_cent))));
  return fmt::format("{:.{}f} %", per_cent, std::max(digits, 0));
}

}  // namespace

std::string grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  const std::ptrdiff_t first = number < 0 ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string number(double number) {
  constexpr double kWholeFrom = 999.95;  // as four digits it is 1,000
  return std::abs(number) < kWholeFrom ? fmt::format("{:.4g}", number)
                                       : grouped(std::llround(number));
}

std::string bytes(std::int64_t bytes) {
  return scaled(static_cast<double>(bytes), kSizes);
}

std::string value(Metric metric, double value) {
  if (!std::isfinite(value)) return "unknown";
  if (metric == Metric::throughput) return number(value / kThroughputScale) + " items/s";
  if (metric == Metric::output_difference) return billionths(value);
  if (pass_of(metric) == Pass::timing) return scaled(value, kTimes);
  // Memory that is kept is small: every byte of it is shown.
  if (is_leak(metric)) return fmt::format("{} {}", grouped(std::llround(value)), unit_of(metric));
  return scaled(value, kSizes);
}

std::string difference(Metric metric, double difference) {
  return (difference > 0 ? "+" : "") + value(metric, difference);
}

std::string change(double ratio) {
  return ratio_text(ratio, Rounding::nearest);
}

bool is_known(double low, double high) {
  return low > 0 && std::isfinite(high) && high >= low;
}

std::string interval(double low, double high) {
  auto text = interval_with_unit(low, high);
  if (text.ends_with(kPercent)) text.resize(text.size() - kPercent.size());
  return text;
}

std::string interval_with_unit(double low, double high) {
  if (!is_known(low, high)) return "";
  std::string from = ratio_text(low, Rounding::down);
  std::string to = ratio_text(high, Rounding::up);
  if (!from.ends_with(kPercent) || !to.ends_with(kPercent))
    return fmt::format("[{}, {}]", from, to);
  from.resize(from.size() - kPercent.size());
  to.resize(to.size() - kPercent.size());
  return fmt::format("[{}, {}] %", from, to);
}

std::string spread(double spread) {
  if (!std::isfinite(spread) || spread < 0) return "unknown";
  return fmt::format("{:.1f} %", rounded(spread * 100, 0.1, Rounding::up));
}

std::string confidence(double confidence) {
  if (!(confidence > 0)) return "unknown";
  if (confidence >= 0.9995) return "more than 99.9 %";
  return fmt::format("{:.4g} %", rounded(confidence * 100, 0.1, Rounding::down));
}

std::string share(double share) {
  return fmt::format("{:.3g} %", share * 100);
}

static std::string plural_of(std::string_view noun) {
  if (noun.ends_with("ies")) return std::string(noun);  // series
  const bool has_vowel = noun.size() > 1 && std::string_view("aeiou").find(noun[noun.size() - 2]) !=
                                                std::string_view::npos;
  if (!noun.ends_with('y') || has_vowel) return std::string(noun) + "s";
  return std::string(noun.substr(0, noun.size() - 1)) + "ies";
}

std::string count(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}", grouped(static_cast<std::int64_t>(number)),
                     number == 1 ? std::string(noun) : plural_of(noun));
}

std::string duration(double seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 3600;
  const std::int64_t whole = std::llround(std::max(0.0, seconds));
  if (whole < kMinute) return fmt::format("{} s", whole);
  if (whole < kHour) return fmt::format("{} min {} s", whole / kMinute, whole % kMinute);
  return fmt::format("{} h {} min", grouped(whole / kHour), whole % kHour / kMinute);
}

std::string age(double seconds) {
  constexpr double kDay = 24 * 3600;
  if (seconds < 2 * kDay) return duration(seconds) + " ago";
  return fmt::format("{} days ago", grouped(static_cast<std::int64_t>(seconds / kDay)));
}

std::string duration_range(double low_seconds, double high_seconds) {
  constexpr double kMinute = 60;
  constexpr double kHours = 7200;  // from two hours on minutes are of no interest
  if (high_seconds < kMinute) return "less than a minute";
  const bool in_hours = high_seconds >= kHours;
  const double unit = in_hours ? kMinute * kMinute : kMinute;
  const auto low = std::max<std::int64_t>(1, std::llround(std::floor(low_seconds / unit)));
  const auto high = std::llround(std::ceil(high_seconds / unit));
  const std::string_view name = in_hours ? "h" : "min";
  if (low >= high) return fmt::format("about {} {}", high, name);
  return fmt::format("about {} to {} {}", low, high, name);
}

std::string_view name_of(Metric metric) {
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
    case Metric::output_difference:
      return "difference of outputs";
    case Metric::first_iteration:
      return "first iteration";
    case Metric::throughput:
      return "throughput";
    case Metric::compile_time:
      return "time to compile";
    case Metric::compile_peak:
      return "peak memory while it compiles";
    case Metric::package_size:
      return "size of what was compiled";
  }
  return "value";
}

}  // namespace torchwatch::figures
