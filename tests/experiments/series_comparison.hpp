#pragma once

#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "recorded_noise.hpp"

namespace torchwatch::experiments {

using Random = std::mt19937_64;

/// One recorded workload in the forms that the rules look at.
struct Series {
  Series(const test::RecordedSeries& recorded, std::size_t place_in_recording);

  std::string workload;
  std::size_t place;
  std::vector<std::vector<double>> comparisons;     ///< the medians of each comparison's processes
  std::vector<std::vector<double>> medians_of_ten;  ///< the same of ten samples each
  std::vector<double> comparison_values;            ///< the median of each comparison's processes
  std::vector<double> runs;                         ///< all processes in recorded order
  std::vector<std::size_t> comparison_of_run;
  std::size_t alive_at_once = 1;  ///< runs that belong together: draws begin at its multiples
};

inline constexpr std::size_t kComparisonsBefore = 31;  ///< what the longest history asks for
/// Perfherder's twelve values take this many comparisons more when a comparison has one.
inline constexpr std::size_t kComparisonsAfter = 11;

/// One comparison of one series: the comparisons before it, itself, and those after it, which are
/// as slow as it is.
struct SeriesComparison {
  const Series* series = nullptr;
  std::vector<std::size_t> comparisons;  ///< places in the series, oldest first
  double slowdown = 1;                   ///< of the comparison judged and those after it

  static constexpr std::size_t kJudged = kComparisonsBefore;
  /// The recorded comparisons behind the judged one and the one before it.
  [[nodiscard]] std::set<std::size_t> compared() const;
  [[nodiscard]] double factor(std::size_t place) const { return place < kJudged ? 1 : slowdown; }
  [[nodiscard]] double value(std::size_t place) const;
};

/// A recorded comparison among its recorded neighbours. The recording is a ring: before its first
/// comparison comes its last.
SeriesComparison recorded_comparison(const Series& series, std::size_t comparison, double slowdown);

/// Every comparison drawn with replacement, its processes kept together.
SeriesComparison drawn_comparison(const Series& series, double slowdown, Random& random);

/// Further runs of a series in recorded order, as disturbances outlast a process: from a random
/// start on, without those of some comparisons. After a whole round there is a new start.
class RunsElsewhere {
 public:
  RunsElsewhere(const Series& series, std::set<std::size_t> without_comparisons, Random& random);
  double operator()();

 private:
  void start_anew();

  const Series& series_;
  std::set<std::size_t> without_;
  Random& random_;
  std::size_t next_ = 0;
  std::size_t passed_ = 0;
};

/// The runs of a screening: those of the comparison before and of the comparison judged, in
/// recorded order as if they were one comparison, from a random one on, so that no process of a
/// comparison is always the same build's; then runs from elsewhere.
class RunsOfComparison {
 public:
  RunsOfComparison(const SeriesComparison& comparison, Random& random);
  double operator()();

 private:
  std::vector<double> runs_;
  std::size_t next_ = 0;
  RunsElsewhere elsewhere_;
};

}  // namespace torchwatch::experiments
