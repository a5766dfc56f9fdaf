#include "style_sheet.hpp"

#include "torchwatch/canvas/canvas.hpp"

namespace torchwatch::drawing {

std::string_view style_sheet() {
  return kStyleSheet;
}

std::string stand_alone(const std::string& svg) {
  const auto behind = svg.find(">\n");
  if (behind == std::string::npos) return svg;
  auto file = svg;
  return file.insert(behind + 2, "<style>\n" + std::string(kStyleSheet) + "</style>\n");
}

}  // namespace torchwatch::drawing
