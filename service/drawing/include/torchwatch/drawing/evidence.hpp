#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/canvas/canvas.hpp"

namespace torchwatch::drawing {

// What an incident rests on: every sample, every effect, the memory of every iteration.

enum class Side { baseline, candidate };

struct StripRun {
  Side side = Side::baseline;
  bool is_confirmation = false;
  std::vector<double> samples = {};  ///< in the order in which they were taken
  double median = 0;
};

/// Every sample of one series, run by run.
struct SampleStrips {
  Frame frame = {};
  std::string title = {};  ///< "resnet18 cpu-train time"
  Metric metric = Metric::time;
  std::string baseline = {};         ///< the build's name
  std::string candidate = {};        ///< the build's name
  std::vector<StripRun> runs = {};   ///< in the order in which they ran: A B B A
  std::optional<double> ratio = {};  ///< candidate to baseline, as judged
  std::optional<Interval> interval = {};
  double threshold = 1.07;
  double confidence = 0.99;  ///< of the interval
};

struct ForestRow {
  std::string label = {};  ///< "resnet18 cpu-train time"
  double ratio = 1;
  std::optional<Interval> interval = {};
  Verdict verdict = Verdict::unchanged;
  std::string link = {};
  std::optional<double> threshold = {};  ///< of this series; nothing: the plot's
};

/// The changes of several series with their intervals, in the order given. Without verdicts it
/// has no thresholds either: it shows differences that nothing was judged by.
struct ForestPlot {
  Frame frame = {};
  std::string title = {};
  std::optional<Metric> metric = {};  ///< nothing: the rows are of several
  std::vector<ForestRow> rows = {};
  double threshold = 1.07;
  double confidence = 0.99;
  bool has_verdicts = true;
  std::optional<ForestRow> mean = {};  ///< of all rows, which stands below them
};

/// The live bytes after each iteration, whose slope is a leak.
struct MemoryLevels {
  Frame frame = {};
  std::string title = {};
  std::string baseline = {};
  std::string candidate = {};
  std::vector<double> baseline_bytes = {};
  std::vector<double> candidate_bytes = {};
  std::optional<double> baseline_slope = {};  ///< bytes per iteration, as fitted
  std::optional<double> candidate_slope = {};
};

std::string svg_of(const SampleStrips&);
std::string text_of(const SampleStrips&, int columns);
/// One row a run: its place, side, stage, number of samples, median, least and greatest sample.
Table table_of(const SampleStrips&);

std::string svg_of(const ForestPlot&);
std::string text_of(const ForestPlot&, int columns);
Table table_of(const ForestPlot&);

std::string svg_of(const MemoryLevels&);
std::string text_of(const MemoryLevels&, int columns);
/// One row an iteration.
Table table_of(const MemoryLevels&);

}  // namespace torchwatch::drawing
