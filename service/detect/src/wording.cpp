#include "wording.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace torchwatch::detect {
namespace {

/// Locale-independent, with so many decimals; trailing zeros go only where decimals are optional.
std::string decimal(double value, int decimals) {
  std::array<char, 400> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, decimals);
  return {buffer.data(), end.ptr};
}

std::string change(double ratio) {
  const double percent = std::round((ratio - 1) * 1000) / 10;
  return decimal(percent == 0 ? 0 : percent, 1);  // never "-0.0"
}

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string in_percent(double ratio) {
  const std::string text = change(ratio);
  return (text.starts_with('-') ? "" : "+") + text + " %";
}

std::string in_words(const Estimate& estimate) {
  const std::string pairs =
      std::to_string(estimate.pairs) + (estimate.pairs == 1 ? " pair" : " pairs");
  if (estimate.pairs == 0) return "nothing measured";
  if (!std::isfinite(estimate.high)) {
    return in_percent(estimate.ratio) + ", " + pairs + ", too few for an interval";
  }
  return in_percent(estimate.ratio) + " [" + change(estimate.low) + ", " + change(estimate.high) +
         "] at " + without_trailing_zeros(decimal(estimate.confidence * 100, 2)) + " %, " + pairs;
}

std::string grouped(std::int64_t number, bool with_sign) {
  std::string digits = std::to_string(number);
  const bool is_negative = digits.front() == '-';
  if (is_negative) digits.erase(0, 1);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  if (is_negative) return "-" + digits;
  return (with_sign ? "+" : "") + digits;
}

}  // namespace torchwatch::detect
