#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/canvas/canvas.hpp"

namespace torchwatch::drawing {

// What a comparison of two builds gave, as a whole.

struct HeatCell {
  std::optional<Verdict> verdict = {};  ///< nothing: not part of the comparison
  std::optional<double> ratio = {};
  bool is_confirmed = false;  ///< drawn as a ring
  std::string link = {};
  std::optional<double> threshold = {};  ///< of this series; nothing: the map's
};

struct HeatRow {
  std::string workload = {};
  std::string domain = {};
  std::vector<HeatCell> cells = {};  ///< one for each of the map's configurations
  std::string link = {};
};

/// One metric of all workloads in all configurations. Rows stand in the order given.
struct HeatMap {
  Frame frame = {};
  std::string title = {};
  Metric metric = Metric::time;
  std::vector<std::string> configurations = {};
  std::vector<HeatRow> rows = {};
  bool is_by_domain = false;  ///< rows of one domain stand together: each domain gets a heading
  double threshold = 1.07;    ///< changes of this size get the full colour
};

/// The past of one metric of a workload, in a small picture of its own.
struct SmallMultiple {
  std::string label = {};
  /// Oldest first, one for each nightly, in the metric's unit; nothing where it has none.
  std::vector<std::optional<double>> values = {};
  Verdict verdict = Verdict::unchanged;  ///< in the comparison that the values lead up to
  std::string link = {};
  std::optional<double> threshold = {};  ///< of this series; nothing: the threshold of all
};

/// The past of all workloads in one configuration, side by side. Each has a scale of its own, which
/// is as high as the threshold at least: noise must not look like a change.
struct SmallMultiples {
  Frame frame = {};
  std::string title = {};
  Metric metric = Metric::time;
  std::vector<SmallMultiple> all = {};
  double threshold = 1.07;  ///< drawn above the middle of each one's values
};

/// Shares of the time of an iteration, which add up to 1.
struct Shares {
  double active = 0;
  double copy = 0;
  double idle = 0;
};

struct SharesRow {
  std::string label = {};
  std::optional<Shares> before = {};
  std::optional<Shares> after = {};
  std::string link = {};
};

/// What a GPU did, series by series, with two builds.
struct DeviceShares {
  Frame frame = {};
  std::string title = {};
  std::string before = {};  ///< the builds' names
  std::string after = {};
  std::vector<SharesRow> rows = {};
};

std::string svg_of(const HeatMap&);
std::string text_of(const HeatMap&, int columns);
/// One row a workload; the last row has the geometric mean of each configuration's ratios with
/// their number.
Table table_of(const HeatMap&);

std::string svg_of(const SmallMultiples&);
std::string text_of(const SmallMultiples&, int columns);
/// One row a workload: how many nightlies have a value, the least, middle, greatest and newest one.
Table table_of(const SmallMultiples&);

std::string svg_of(const DeviceShares&);
std::string text_of(const DeviceShares&, int columns);
Table table_of(const DeviceShares&);

}  // namespace torchwatch::drawing
