#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "torchwatch/documents/block.hpp"
#include "torchwatch/drawing/evidence.hpp"
#include "torchwatch/drawing/history.hpp"
#include "torchwatch/evidence/context.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::evidence {

// One series: every sample, the levels of its memory, its past. Errors are those of storage.

/// A run of a series in a comparison, with what is kept of its samples.
struct SeriesRun {
  storage::Id run = 0;
  comparison::Side side = comparison::Side::baseline;
  comparison::Stage stage = comparison::Stage::screen;
  bool is_thinned = false;           ///< its median alone is kept
  double median = 0;                 ///< of the samples; the run's value where they are of memory
  std::vector<double> samples = {};  ///< in the order in which they were taken
  /// What the run states beside the metric and is not judged.
  std::map<Metric, std::int64_t> beside = {};
};

/// Returns the runs of a series that ended well, in the order in which they began. A time has the
/// samples of each iteration; of memory a run has one sample, its value.
Result<std::vector<SeriesRun>> runs_of(const Context&, const storage::ComparisonRow&,
                                       const Series&);

/// Returns what those runs state beside a metric and is not judged.
Result<storage::ValuesOfRuns> beside(storage::Database&, Metric,
                                     const std::vector<storage::Id>& runs);

/// The samples of one series of a comparison, drawn.
struct Strips {
  drawing::SampleStrips strips = {};
  std::size_t thinned = 0;  ///< runs of which the median alone is kept: they have no samples
};

/// Returns the strips of a series with its verdict's ratio and interval, if it has a verdict.
Result<Strips> strips_of(const Context&, const storage::ComparisonRow&, const Series&);

/// Returns the levels of memory after each iteration: of each build the run whose growth is the
/// middle one, with its growth as slope. Nothing where no run of the benchmark has them, or what is
/// kept of them has no levels. `heap_growth` shows the whole heap, other metrics LibTorch's
/// allocator.
Result<std::optional<drawing::MemoryLevels>> memory_levels_of(const Context&,
                                                              const storage::ComparisonRow&,
                                                              const Series&);

/// Which part of a series' past is wanted.
struct HistoryWanted {
  Series series;
  storage::WallMillis from = 0;
  storage::WallMillis until = INT64_MAX;  ///< the first moment after it
  int limit = 4'000;                      ///< of points, the newest: ten years of nightlies
  std::size_t most = SIZE_MAX;            ///< of points that are kept, besides changes
  bool is_ratio = false;                  ///< ratios to each comparison's baseline, not values
  bool is_logarithmic = false;            ///< values on a logarithmic axis
};

/// Returns what the newest drift comparison that gave the series a value with both builds compared
/// with; nothing where there is none.
Result<std::optional<drawing::DriftReference>> drift_reference_of(const Context&, const Series&);

/// Returns the verdicts of nightly comparisons on a series, with what explains them: versions that
/// began, incidents, facts of the environment that changed, self-tests. A point's time is that of
/// its comparison. Of more points than `most` it keeps the first and the last, every one that
/// regressed or improved, and the least and the greatest of each of `most` / 2 stretches; marks are
/// those of all points. Values have the drift reference, too.
Result<drawing::History> history_of(const Context&, const HistoryWanted&);

}  // namespace torchwatch::evidence
