#include "torchwatch/drawing/markup.hpp"

#include "torchwatch/records/printable.hpp"

namespace torchwatch::drawing {

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

}  // namespace torchwatch::drawing
