#include "torchwatch/pictures/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "torchwatch/canvas/markup.hpp"
#include "torchwatch/digest/sha256.hpp"

namespace torchwatch::pictures {
namespace {

/// A drawing without its outer element.
struct Part {
  std::string_view content;
  int width = 0;
  int height = 0;
};

/// Reads a number of the first tag, as in width="720".
int number_in(std::string_view tag, std::string_view name) {
  const auto begin = tag.find(name);
  if (begin == std::string_view::npos) return 0;
  const auto digits = tag.substr(begin + name.size());
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

Part part_of(std::string_view svg) {
  constexpr std::string_view kEnd = "</svg>";
  const auto head = svg.find(">\n");
  const auto end = svg.rfind(kEnd);
  if (head == std::string_view::npos || end == std::string_view::npos) return {};
  const auto tag = svg.substr(0, head);
  return {svg.substr(head + 2, end - head - 2), number_in(tag, " width=\""),
          number_in(tag, " height=\"")};
}

/// The description of a drawing, as it is written there.
std::string_view description_in(std::string_view svg) {
  const auto begin = svg.find("<desc");
  const auto text = begin == std::string_view::npos ? begin : svg.find('>', begin);
  const auto end = svg.find("</desc>");
  if (text == std::string_view::npos || end == std::string_view::npos || end < text) return {};
  return svg.substr(text + 1, end - text - 1);
}

/// What makes a picture: of the largest change what shows it best, then its past.
std::vector<const Drawn*> chosen_of(const std::vector<Drawn>& all) {
  std::vector<const Drawn*> chosen;
  const auto add = [&](Shown what) {
    const auto found = std::ranges::find(all, what, &Drawn::what);
    if (found != all.end()) chosen.push_back(&*found);
  };
  add(Shown::memory);
  if (chosen.empty()) add(Shown::samples);
  add(Shown::history);
  return chosen;
}

}  // namespace

std::string stacked(const std::string& title, const std::vector<std::string>& svgs) {
  constexpr int kBetween = 24;
  std::string groups;
  std::string description;
  int width = 0;
  int height = 0;
  for (const auto& svg : svgs) {
    const auto part = part_of(svg);
    description += (description.empty() ? "" : " ") + std::string(description_in(svg));
    if (height > 0) height += kBetween;
    groups += fmt::format("<g transform=\"translate(0 {})\">\n{}</g>\n", height, part.content);
    width = std::max(width, part.width);
    height += part.height;
  }
  // An image takes its size from the root, for which the sheet of pages has the page's width.
  const auto file = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" role=\"img\" "
      "aria-labelledby=\"picture-title picture-desc\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\">\n"
      "<style>.drawing {{ width: {0}px; height: {1}px; max-width: none; }}</style>\n"
      "<title id=\"picture-title\">{2}</title>\n"
      "<desc id=\"picture-desc\">{3}</desc>\n"
      "<rect width=\"{0}\" height=\"{1}\" class=\"paper\"/>\n{4}</svg>\n",
      width, height, drawing::escaped(title), description, groups);
  return drawing::stand_alone(file);
}

Result<std::optional<Picture>> picture_of(const evidence::Context& of,
                                          const storage::IncidentRow& incident) {
  evidence::Context context{.database = of.database,
                            .is_trusted = false,
                            .confidence = of.confidence,
                            .threshold = of.threshold,
                            .exact_threshold = of.exact_threshold,
                            .threshold_of = of.threshold_of};
  TW_TRY(const auto all, drawings_of(context, incident));
  std::vector<std::string> svgs;
  std::string title;
  for (const auto* each : chosen_of(all)) {
    svgs.push_back(each->svg());
    title += (title.empty() ? "" : "; ") + each->sentence;
  }
  if (svgs.empty()) return std::nullopt;
  constexpr std::size_t kVersion = 16;
  Picture picture{stacked(title, svgs), {}};
  picture.version = digest::sha256_hex(picture.svg).substr(0, kVersion);
  return picture;
}

std::string address_of(const Picture& picture, const std::string& page) {
  return page + "/evidence.svg?v=" + picture.version;
}

}  // namespace torchwatch::pictures
