#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/canvas/canvas.hpp"

namespace torchwatch::drawing {

inline constexpr double kTextSize = 12;  ///< of the style sheet's text, in units

/// Formats a coordinate: at most one decimal.
std::string coordinate(double value);

/// Shortens text to what fits into that many units; bold text takes more.
std::string fitting(std::string_view text, double units);
std::string fitting_bold(std::string_view text, double units);

/// About how many units a text takes.
double units_of(std::string_view text);

/// An SVG that grows downwards. It escapes all text, and leaves out links that could run a script.
/// Classes name colours and strokes of the style sheet.
class Svg {
 public:
  /// `summary`: the sentence that says what there is to see; it stands below the title and in
  /// <desc>.
  Svg(const Frame&, const std::string& title, const std::string& summary);

  double width() const { return width_; }
  bool is_narrow() const;
  /// Where the next thing begins, and how it is moved down.
  double y() const { return y_; }
  void down(double units) { y_ += units; }

  void text(double x, double y, std::string_view classes, std::string_view words);
  /// A text with its middle at `x`, on top of everything. It is for the eye alone: what it lies on
  /// has the hint and takes the pointer. Cheaper to draw than a text of its own.
  void label(double x, double y, std::string_view classes, std::string_view words);
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void box(double x, double y, double width, double height, std::string_view classes);
  /// A box with stripes.
  void hatched(double x, double y, double width, double height);
  void path(const std::string& data, std::string_view classes);
  /// What a pointer or a screen reader gets of what is drawn before close(); a link if there is
  /// an address.
  void open(std::string_view hint, std::string_view link = {});
  void close();
  /// Lines of quiet text, wrapped.
  void notes(std::string_view words);

  std::string finished() const;

 private:
  std::string id_;
  double width_;
  double y_ = 0;
  std::string head_;
  std::string body_;
  std::string labels_;
  bool has_links_ = false;
  std::vector<bool> links_;  ///< whether what is open is a link
};

/// Path data of marks that differ by their shape, around a point.
std::string triangle_up(double x, double y, double size);
std::string triangle_down(double x, double y, double size);
std::string circle(double x, double y, double size);
std::string square(double x, double y, double size);
std::string cross(double x, double y, double size);

/// A mark of the verdict's shape and colour.
void draw_verdict(Svg&, double x, double y, Verdict);

/// A dot; its shape comes with the class of the path: "dots" are round, "squares" are not.
std::string dot(double x, double y);

}  // namespace torchwatch::drawing
