#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace torchwatch::experiments {

/// A commit's place in its day, oldest first; the good end lies before all of them.
using Place = int;
inline constexpr Place kGoodEnd = -1;

/// A day of commits with what is true of it. The last commit is the bad end; both ends have builds.
struct Day {
  std::size_t commits = 1;
  std::map<std::size_t, double> steps;  ///< culprit: by how much ln(time) is longer from it on
  std::set<std::size_t> unbuildable;    ///< never the last
  std::set<std::size_t> idle = {};      ///< change nothing of the library

  Place last() const { return static_cast<Place>(commits) - 1; }
  /// By how much ln(time) is longer there than at the good end.
  double slowdown(Place) const;
  /// A name of what is built there: the same for places with equal libraries.
  std::string library(Place) const;
};

struct DayShape {
  std::size_t commits = 100;
  int culprits = 1;
  double step = 0;         ///< ln(1.10) for ten per cent slower
  double unbuildable = 0;  ///< share of the commits, in stretches of one to four
};

/// Culprits and stretches that do not build are drawn anywhere in the day.
Day draw_day(const DayShape&, std::mt19937_64&);

/// The commits that no measurement can tell from this culprit.
std::vector<std::size_t> smallest_set(const Day&, std::size_t culprit);

/// ln(time) of one workload's recorded processes, about their median. Not empty.
std::vector<double> log_times_of(const std::vector<double>& process_medians_ns);

/// Builds the commits of a day.
class DayBuilds {
 public:
  explicit DayBuilds(const Day& day) : day_(day) {}

  /// Whether the place has a build; tries to make it, in a round of its own, if that was not tried
  /// before.
  bool build(Place);
  /// Those of the places that have a build, in their order; what was not tried before is made in
  /// one round.
  std::vector<Place> build_at_once(const std::vector<Place>&);

  /// Whether the place was tried before, or is an end.
  bool is_tried(Place) const;
  const Day& day() const { return day_; }
  int builds() const { return static_cast<int>(tried_.size()); }  ///< failed ones too; no ends
  int rounds() const { return rounds_; }  ///< how often builds were waited for

 private:
  const Day& day_;
  std::set<Place> tried_;
  int rounds_ = 0;
};

/// Builds and measures the commits of a day. Its runs are consecutive recorded processes, so
/// that a disturbance lasts as long as it did; the first follows the last.
class DayRuns : public DayBuilds {
 public:
  DayRuns(const Day&, const std::vector<double>& log_times, std::size_t start);

  /// ln(time) of the next process, of a place that builds.
  double run(Place);
  std::vector<double> run(Place, int times);

  int runs() const { return runs_; }

 private:
  const std::vector<double>& log_times_;
  std::size_t next_;
  int runs_ = 0;
};

}  // namespace torchwatch::experiments
