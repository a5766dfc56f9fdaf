#pragma once

#include <map>
#include <random>
#include <vector>

#include "searched_day.hpp"

namespace torchwatch::experiments {

/// Builds the commits of a day and measures them in interleaved pairs. The pairs are drawn one by
/// one, and each build has a deviation of its own that no number of pairs averages out.
class DayPairs : public DayBuilds {
 public:
  /// `noise`: ln(candidate / reference) of like code. Day, noise and random numbers are borrowed.
  DayPairs(const Day& day, const std::vector<double>& noise, double build_spread,
           std::mt19937_64& random)
      : DayBuilds(day), noise_(noise), build_spread_(build_spread), random_(random) {}

  bisect::SearchEvent carry_out(const bisect::Measure&);

  int runs() const { return runs_; }

 private:
  double level(Place);

  const std::vector<double>& noise_;
  double build_spread_;
  std::mt19937_64& random_;
  std::map<Place, double> own_;
  int runs_ = 0;
};

}  // namespace torchwatch::experiments
