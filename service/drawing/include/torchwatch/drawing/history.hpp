#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/canvas/canvas.hpp"

namespace torchwatch::drawing {

struct HistoryPoint {
  std::string build = {};
  std::string time = {};  ///< "2026-11-20" or "2026-11-20T03:04:05Z"
  double value = 0;       ///< a ratio, or in the metric's unit
  std::optional<Interval> interval = {};
  std::size_t runs = 0;
  Verdict verdict = Verdict::unchanged;
  std::string link = {};
};

/// The older build that the newest drift comparison compared with: what drift is judged against.
struct DriftReference {
  std::string build = {};
  std::string time = {};  ///< of the drift comparison
  double value = 0;       ///< in the metric's unit, measured anew in that comparison
  std::string link = {};  ///< to the drift comparison
};

enum class MarkKind { build, incident, environment, self_test };

/// Something that happened at a time.
struct HistoryMark {
  MarkKind kind = MarkKind::build;
  std::string time = {};
  std::string label = {};  ///< "driver 550.54 to 555.42"
  std::string link = {};
};

/// One series over time, oldest point first. Where a time cannot be read, points stand at equal
/// distances and marks only in the table.
struct History {
  Frame frame = {};
  std::string title = {};
  Metric metric = Metric::time;
  bool is_ratio = false;  ///< values are ratios to the baseline of each point
  /// Values have an axis on which equal factors are equal distances; what is not above 0 has no
  /// place on it. Not for ratios.
  bool is_logarithmic = false;
  std::vector<HistoryPoint> points = {};
  std::vector<HistoryMark> marks = {};
  std::optional<DriftReference> drift = {};  ///< drawn unless values are ratios
  double threshold = 1.07;                   ///< drawn where values are ratios
  double confidence = 0.99;
  /// How many points were left out: neither changes nor the least or the greatest of a stretch.
  std::size_t left_out = 0;
};

std::string svg_of(const History&);
/// Says which points are shown where some were left out.
std::string left_out_words(const History&);
std::string text_of(const History&, int columns);
/// One row a point, one row a mark, and one for the drift reference, by time.
Table table_of(const History&);

/// What stands behind a row of the table, for a script that draws it again.
struct Behind {
  std::string kind = {};      ///< "point", "drift", or the mark's
  std::string value = {};     ///< not rounded; of a mark empty
  std::string interval = {};  ///< both ends, with a blank between; may be empty
  std::string link = {};
};
/// The table of table_of, and what stands behind each of its rows.
struct TableForScript {
  Table table = {};
  std::vector<Behind> behind = {};
};
TableForScript table_for_script(const History&);

}  // namespace torchwatch::drawing
