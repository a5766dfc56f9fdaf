#include "torchwatch/canvas/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "torchwatch/canvas/markup.hpp"
#include "torchwatch/canvas/words.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::drawing {
namespace {

constexpr double kCharacter = 0.54;  // of a letter's size: its usual width without serifs
constexpr double kBold = 1.2;        // as wide as other text, times this
constexpr double kLine = 16;
constexpr double kNarrow = 480;
constexpr double kTitleSize = 14;

std::string id_of(std::string_view text) {
  std::string id;
  for (const char c : text) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    id += is_plain ? c : '-';
  }
  return id.empty() ? "drawing" : id;
}

/// An address of http or https, or one of our own without a scheme; else none.
std::string safe_link(std::string_view link) {
  const bool is_full = link.starts_with("https://") || link.starts_with("http://");
  const auto colon = link.find(':');
  const bool has_scheme = colon < link.find_first_of("/?#");
  if (is_full || (!has_scheme && !link.starts_with("//"))) return std::string(link);
  return "";
}

std::string placed(std::string_view element, double x, double y, std::string_view classes,
                   std::string_view words) {
  return fmt::format("<{0} x=\"{1}\" y=\"{2}\"{3}>{4}</{0}>", element, coordinate(x), coordinate(y),
                     classes.empty() ? "" : fmt::format(" class=\"{}\"", classes),
                     escaped(one_line(words)));
}

std::size_t characters_in(double units) {
  return static_cast<std::size_t>(std::max(0.0, units / (kTextSize * kCharacter)));
}

}  // namespace

std::string coordinate(double value) {
  auto text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string fitting(std::string_view text, double units) {
  return elided(one_line(text), characters_in(units));
}

std::string fitting_bold(std::string_view text, double units) {
  return fitting(text, units / kBold);
}

double units_of(std::string_view text) {
  return static_cast<double>(characters_of(text)) * kTextSize * kCharacter;
}

Svg::Svg(const Frame& frame, const std::string& title, const std::string& summary)
    : id_(id_of(frame.id)), width_(std::clamp(frame.width, kNarrowWidth, 4000)) {
  head_ = fmt::format(
      "<title id=\"{0}-title\">{1}</title>\n<desc id=\"{0}-desc\">{2}</desc>\n"
      "<defs><pattern id=\"{0}-hatch\" class=\"hatch\" width=\"5\" height=\"5\" "
      "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
      "<path d=\"M0 0v5\"/></pattern></defs>\n",
      id_, escaped(one_line(title)), escaped(one_line(summary)));
  y_ = kLine;
  text(0, y_, "strong", fitting_bold(title, width_ * kTextSize / kTitleSize));
  y_ += 2;
  notes(summary);
  y_ += 8;
}

bool Svg::is_narrow() const {
  return width_ < kNarrow;
}

void Svg::text(double x, double y, std::string_view classes, std::string_view words) {
  body_ += placed("text", x, y, classes, words) + "\n";
}

// Without line ends between them: each would be a space beside a text that is centred.
void Svg::label(double x, double y, std::string_view classes, std::string_view words) {
  labels_ += placed("tspan", x, y, classes, words);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  path("M" + coordinate(x1) + " " + coordinate(y1) + "L" + coordinate(x2) + " " + coordinate(y2),
       classes);
}

void Svg::box(double x, double y, double width, double height, std::string_view classes) {
  if (!(width > 0 && height > 0)) return;
  body_ +=
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"/>\n",
                  coordinate(x), coordinate(y), coordinate(width), coordinate(height), classes);
}

void Svg::hatched(double x, double y, double width, double height) {
  if (!(width > 0 && height > 0)) return;
  body_ +=
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"url(#{}-hatch)\"/>\n",
                  coordinate(x), coordinate(y), coordinate(width), coordinate(height), id_);
}

void Svg::path(const std::string& data, std::string_view classes) {
  if (data.empty()) return;
  body_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", data, classes);
}

void Svg::open(std::string_view hint, std::string_view link) {
  const auto address = safe_link(link);
  links_.push_back(!address.empty());
  has_links_ = has_links_ || !address.empty();
  body_ += address.empty() ? "<g>" : "<a href=\"" + escaped(address) + "\">";
  if (!hint.empty()) body_ += "<title>" + escaped(one_line(hint)) + "</title>";
  body_ += '\n';
}

void Svg::close() {
  body_ += links_.back() ? "</a>\n" : "</g>\n";
  links_.pop_back();
}

void Svg::notes(std::string_view words) {
  const auto columns = static_cast<int>(characters_in(width_));
  for (const auto& each : lines_of(paragraph(words, columns))) {
    y_ += kLine;
    text(0, y_ - 1, "quiet", each);
  }
}

std::string Svg::finished() const {
  // What is inside an image cannot be reached, and links must be.
  const auto* role = has_links_ ? "group" : "img";
  const auto labels = labels_.empty() ? ""
                                      : "<text class=\"middle\" pointer-events=\"none\" "
                                        "aria-hidden=\"true\">" +
                                            labels_ + "</text>\n";
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" role=\"{5}\" "
      "aria-labelledby=\"{0}-title {0}-desc\" viewBox=\"0 0 {1} {2}\" width=\"{1}\" "
      "height=\"{2}\">\n{3}<rect width=\"{1}\" height=\"{2}\" class=\"paper\"/>\n{4}{6}</svg>\n",
      id_, coordinate(width_), coordinate(std::ceil(y_ + 8)), head_, body_, role, labels);
}

std::string triangle_up(double x, double y, double size) {
  return fmt::format("M{} {}l{} {}h{}z", coordinate(x), coordinate(y - size), coordinate(size),
                     coordinate(2 * size), coordinate(-2 * size));
}

std::string triangle_down(double x, double y, double size) {
  return fmt::format("M{} {}l{} {}h{}z", coordinate(x), coordinate(y + size), coordinate(size),
                     coordinate(-2 * size), coordinate(-2 * size));
}

std::string circle(double x, double y, double size) {
  return fmt::format("M{0} {1}a{2} {2} 0 1 0 {3} 0a{2} {2} 0 1 0 {4} 0z", coordinate(x - size),
                     coordinate(y), coordinate(size), coordinate(2 * size), coordinate(-2 * size));
}

std::string square(double x, double y, double size) {
  return fmt::format("M{} {}h{}v{}h{}z", coordinate(x - size), coordinate(y - size),
                     coordinate(2 * size), coordinate(2 * size), coordinate(-2 * size));
}

std::string cross(double x, double y, double size) {
  return fmt::format("M{0} {1}l{3} {3}M{0} {2}l{3} -{3}", coordinate(x - size),
                     coordinate(y - size), coordinate(y + size), coordinate(2 * size));
}

void draw_verdict(Svg& svg, double x, double y, Verdict verdict) {
  constexpr double kSize = 4.5;
  switch (verdict) {
    case Verdict::regressed:
      svg.path(triangle_up(x, y, kSize), "worse solid");
      break;
    case Verdict::improved:
      svg.path(triangle_down(x, y, kSize), "better solid");
      break;
    case Verdict::unchanged:
      svg.path(circle(x, y, kSize - 1), "same solid");
      break;
    case Verdict::inconclusive:
      svg.path(square(x, y, kSize - 1), "unsure solid");
      break;
    case Verdict::unsupported:
    case Verdict::failed:
      svg.path(cross(x, y, kSize - 1), "broken");
      break;
  }
}

std::string dot(double x, double y) {
  return "M" + coordinate(x) + " " + coordinate(y) + "h0";
}

}  // namespace torchwatch::drawing
