#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "torchwatch/bisect/culprit_search.hpp"

namespace torchwatch::test {

/// How one run's logarithmic time scatters: normally, now and then with a disturbance on top. What
/// a build has of its own (where its code came to lie) no number of runs averages out. The
/// session's level drifts, the two runs of a pair having the same: only a run alone shows it.
struct SimulatedNoise {
  double run_sd = 0;
  double spike_chance = 0;
  double spike_mean = 0.12;
  double build_sd = 0;
  double drift_sd = 0;  ///< by which the level moves before each measurement
};

/// A day of commits as a search sees it.
struct SimulatedDay {
  std::size_t classes = 1;
  std::vector<std::map<std::size_t, double>> steps;  ///< by series: class -> effect from it on
  std::set<std::size_t> unbuildable;
  SimulatedNoise noise;
};

/// What a finished search did.
struct SimulatedSearch {
  bisect::Answer answer;
  std::vector<bisect::SearchEvent> events;
  std::vector<bisect::Measure> measures;
};

/// What the search asks for, from a seeded generator.
class SimulatedRuns {
 public:
  SimulatedRuns(SimulatedDay day, std::uint64_t seed);

  /// Answers one order: a measurement, or that something does not build.
  bisect::SearchEvent carry_out(const bisect::Measure&);
  const SimulatedDay& day() const { return day_; }

 private:
  double level(std::size_t series, const bisect::Reference& at) const;
  double run();
  void drift();

  SimulatedDay day_;
  std::mt19937_64 random_;
  std::vector<double> layout_;  ///< by class; the good end has none
  double session_;              ///< what the good end reads now
};

/// Runs a search to its end. Throws if it refuses an event or does not end within 10,000 steps.
SimulatedSearch run_to_end(bisect::CulpritSearch&, SimulatedRuns&);

}  // namespace torchwatch::test
