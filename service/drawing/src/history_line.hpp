#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/drawing/history.hpp"

namespace torchwatch::drawing {

// A history as all of its forms see it: points in order, and what is said of them.

/// A point at its place across, with an interval that can be drawn.
struct Placed {
  const HistoryPoint* point = nullptr;
  double at = 0;
  std::optional<Interval> interval;
};

struct Line {
  std::vector<Placed> points;
  bool has_times = true;  ///< else places are 0, 1, 2 ...
};

/// The points that can be drawn, in their order.
Line line_of(const History&);

/// "2026-11-20", of days since 1970.
std::string date_of(double days);
/// Days since 1970 of "2026-11-20" or "2026-11-20T03:04:05Z".
std::optional<double> days_of(std::string_view time);
/// The same for people, on one line: "2026-11-20 03:04".
std::string minute_of(std::string_view time);
/// The same with its time zone where it has an hour: "2026-11-20 03:04 UTC".
std::string shown_time(std::string_view time);

std::string words_of(const History&, double value);
std::string interval_words_of(const History&, const std::optional<Interval>&);
std::string_view word_of(MarkKind);

/// The sentence that says what there is to see.
std::string summary(const History&, const Line&);

/// The drift reference, where it has a place among the values.
const DriftReference* reference_of(const History&);

/// What the axis and its reference mean; a blank before each sentence.
std::string words_on_axis(const History&, const Line&);

}  // namespace torchwatch::drawing
