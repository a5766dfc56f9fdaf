#include "torchwatch/values/units.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace torchwatch::config {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// Largest first: formatting takes the first that divides, so the binary units of sizes stand first.
constexpr std::array kDurations{Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000},
                                Unit{"s", 1'000}, Unit{"ms", 1}};
constexpr std::array kSizes{Unit{"TiB", std::int64_t{1} << 40}, Unit{"GiB", std::int64_t{1} << 30},
                            Unit{"MiB", std::int64_t{1} << 20}, Unit{"KiB", std::int64_t{1} << 10},
                            Unit{"", 1}};
constexpr std::array kDecimalSizes{Unit{"TB", 1'000'000'000'000}, Unit{"GB", 1'000'000'000},
                                   Unit{"MB", 1'000'000}, Unit{"kB", 1'000}};

template <typename Units>
std::optional<std::int64_t> parse(std::string_view text, const Units& units) {
  std::int64_t count = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, count);
  if (problem != std::errc{} || count < 0) return std::nullopt;
  std::string_view name(rest, static_cast<std::size_t>(end - rest));
  if (name.size() > 1 && name.front() == ' ') name.remove_prefix(1);
  for (const auto& unit : units) {
    if (unit.name != name) continue;
    if (count > std::numeric_limits<std::int64_t>::max() / unit.factor) return std::nullopt;
    return count * unit.factor;
  }
  return std::nullopt;
}

template <typename Units>
std::string format(std::int64_t value, const Units& units) {
  for (const auto& unit : units) {
    if (value != 0 && value % unit.factor == 0) {
      return std::to_string(value / unit.factor) + std::string(unit.name);
    }
  }
  return "0";
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto count = parse(text, kDurations);
  if (!count) return std::nullopt;
  return std::chrono::milliseconds(*count);
}

std::string format_duration(std::chrono::milliseconds duration) {
  return duration.count() == 0 ? "0s" : format(duration.count(), kDurations);
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  const auto size = parse(text, kSizes);
  return size ? size : parse(text, kDecimalSizes);
}

std::string format_size(std::int64_t bytes) {
  const auto binary = format(bytes, kSizes);
  const auto decimal = format(bytes, kDecimalSizes);
  return bytes != 0 && decimal != "0" && decimal.size() < binary.size() ? decimal : binary;
}

bool is_url(std::string_view location) {
  const auto colon = location.find(':');
  return location.find("://") != std::string_view::npos ||
         (colon != std::string_view::npos && colon < location.find('/'));  // git@host:path
}

}  // namespace torchwatch::config
