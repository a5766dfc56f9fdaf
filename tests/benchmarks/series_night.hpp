#pragma once

#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "recorded_noise.hpp"

namespace torchwatch::benchmarks {

using Random = std::mt19937_64;

/// One recorded workload in the forms that the rules look at.
struct Series {
  Series(const test::RecordedSeries& recorded, std::size_t place_in_recording);

  std::string workload;
  std::size_t place;
  std::vector<std::vector<double>> nights;          ///< the medians of each night's processes
  std::vector<std::vector<double>> medians_of_ten;  ///< the same of ten samples each
  std::vector<double> night_values;                 ///< the median of each night's processes
  std::vector<double> runs;                         ///< all processes in recorded order
  std::vector<std::size_t> night_of_run;
  std::size_t alive_at_once = 1;  ///< runs that belong together: draws begin at its multiples
};

inline constexpr std::size_t kNightsBefore = 31;  ///< what the longest history asks for
/// Perfherder's twelve values take so many nights more when a night has one.
inline constexpr std::size_t kNightsAfter = 11;

/// One night of one series: the nights before it, itself, and those after it, which are as slow as
/// it is.
struct SeriesNight {
  const Series* series = nullptr;
  std::vector<std::size_t> nights;  ///< places in the series, oldest first
  double slowdown = 1;              ///< of the night judged and those after it

  static constexpr std::size_t kJudged = kNightsBefore;
  /// The recorded nights behind the judged one and the one before it.
  [[nodiscard]] std::set<std::size_t> compared() const;
  [[nodiscard]] double factor(std::size_t place) const { return place < kJudged ? 1 : slowdown; }
  [[nodiscard]] double value(std::size_t place) const;
};

/// A recorded night among its recorded neighbours. The recording is a ring: before its first night
/// comes its last.
SeriesNight recorded_night(const Series& series, std::size_t night, double slowdown);

/// Every night drawn with replacement, its processes kept together.
SeriesNight drawn_night(const Series& series, double slowdown, Random& random);

/// Further runs of a series in recorded order, as disturbances outlast a process: from a random
/// start on, without those of some nights. After a whole round there is a new start.
class RunsElsewhere {
 public:
  RunsElsewhere(const Series& series, std::set<std::size_t> without_nights, Random& random);
  double operator()();

 private:
  void start_anew();

  const Series& series_;
  std::set<std::size_t> without_;
  Random& random_;
  std::size_t next_ = 0;
  std::size_t passed_ = 0;
};

/// The runs of a screening: those of the night before and of the night judged, in recorded order
/// as if they were one night, from a random one on, so that no process of a night is always the
/// same build's; then runs from elsewhere.
class RunsOfNight {
 public:
  RunsOfNight(const SeriesNight& night, Random& random);
  double operator()();

 private:
  std::vector<double> runs_;
  std::size_t next_ = 0;
  RunsElsewhere elsewhere_;
};

}  // namespace torchwatch::benchmarks
