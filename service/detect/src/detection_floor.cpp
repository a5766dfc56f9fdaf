#include "torchwatch/detect/detection_floor.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "torchwatch/detect/whole_night.hpp"

namespace torchwatch::detect {
namespace {

constexpr int kNights = 200;
constexpr double kFound = 0.9;
constexpr double kLargest = 1.0;  // a doubling
constexpr double kResolution = 0.0025;

/// Pairs of a series that is slower by `log_change`.
class Pairs {
 public:
  Pairs(std::span<const double> same_build, double log_change, std::uint64_t seed)
      : same_build_(same_build), log_change_(log_change), random_(seed) {}

  void extend(std::vector<double>& pairs, int to) {
    while (static_cast<int>(pairs.size()) < to) pairs.push_back(next());
  }

 private:
  double next() {
    std::uniform_int_distribution<std::size_t> any(0, same_build_.size() - 1);
    const double noise = same_build_[any(random_)];
    return log_change_ + (random_() % 2 == 0 ? noise : -noise);
  }

  std::span<const double> same_build_;
  double log_change_;
  std::mt19937_64 random_;
};

struct Nights {
  double found = 0;  ///< share
  double runs = 0;   ///< mean
};

/// Every change is tried on the same draws, so that what is found grows with it.
Nights nights_with(std::span<const double> same_build, double change, const Settings& settings,
                   std::uint64_t seed) {
  Nights all;
  for (int i = 0; i < kNights; ++i) {
    Pairs pairs(same_build, std::log1p(change), seed + static_cast<std::uint64_t>(i));
    const auto more = [&pairs](std::vector<double>& list, int to) { pairs.extend(list, to); };
    const auto night = judge_night(more, more, settings);
    all.found += night.verdict == Verdict::regressed ? 1.0 / kNights : 0;
    all.runs += static_cast<double>(night.runs()) / kNights;
  }
  return all;
}

}  // namespace

DetectionFloor foretell_floor(std::span<const double> same_build_log_ratios,
                              const Settings& settings, std::uint64_t seed) {
  const auto nights = [&](double change) {
    return nights_with(same_build_log_ratios, change, settings, seed);
  };
  DetectionFloor floor;
  floor.runs_unchanged = nights(0).runs;
  auto at_most = nights(kLargest);
  floor.runs_changed = at_most.runs;
  floor.change = std::numeric_limits<double>::infinity();
  if (at_most.found < kFound) return floor;
  double missed = 0;
  double found = kLargest;
  while (found - missed > kResolution) {
    const double middle = (missed + found) / 2;
    const auto there = nights(middle);
    if (there.found < kFound) {
      missed = middle;
      continue;
    }
    found = middle;
    floor.runs_changed = there.runs;
  }
  floor.change = found;
  return floor;
}

}  // namespace torchwatch::detect
