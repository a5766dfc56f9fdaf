#include "torchwatch/canvas/markup.hpp"

#include <algorithm>
#include <array>

#include "torchwatch/records/printable.hpp"

namespace torchwatch::drawing {
namespace {

constexpr std::array<std::string_view, 16> kUnits{
    "%",    "ns",   "µs",    "ms",  "s",   "min", "h",   "day",
    "days", "byte", "bytes", "KiB", "MiB", "GiB", "TiB", "bytes/iteration"};

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char character : printable(text)) {
    switch (character) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += character;
    }
  }
  return safe;
}

bool belong_together(std::string_view word, std::string_view rest) {
  if (word.empty()) return false;
  if (word.front() == '[' && word.back() == ',') return true;
  const bool is_figure = (word.back() >= '0' && word.back() <= '9') || word.back() == ']';
  if (!is_figure) return false;
  const auto next = rest.substr(0, rest.find(' '));
  const auto end = next.find_last_not_of(".,;:)]");
  return end != std::string_view::npos &&
         std::ranges::find(kUnits, next.substr(0, end + 1)) != kUnits.end();
}

}  // namespace torchwatch::drawing
