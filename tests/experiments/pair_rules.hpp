#pragma once

#include <span>
#include <string>
#include <vector>

#include "detection_counts.hpp"
#include "same_build_figures.hpp"
#include "torchwatch/detect/settings.hpp"

/// Our rule on recorded interleaved pairs, and the least that any rule could cost.
namespace torchwatch::experiments {

/// How further pairs are taken from a recording.
enum class Drawn {
  by_pair,   ///< each by itself, with replacement
  in_order,  ///< as they were recorded, from a random one on: disturbances outlast a pair
};

/// The series that have at least `pairs` pairs of the service's way, each as a recorded one whose
/// `runs` are its pairs: ln(B / A).
std::vector<Series> series_of_pairs(const std::vector<BenchmarkBlocks>& benchmarks,
                                    std::size_t pairs);

/// The same of the files that same_build.py wrote, one recording after the other. Errors: not_found
/// (a file), invalid (no series has `pairs`), of read_blocks.
Result<std::vector<Series>> read_series_of_pairs(const std::vector<std::string>& files,
                                                 std::size_t pairs);

/// A series whose pairs are the quantiles of a normal distribution with that spread.
Series normal_pairs(double pair_sd, std::size_t place);

/// Our rule on series of pairs: screened, then confirmed on fresh ones.
Rule pair_rule(const detect::Settings& settings, Drawn drawn);

/// Each series in its turn, with a candidate that takes `slowdown` times as long.
Sampling series_in_turn(std::span<const Series> series, double slowdown, long comparisons);

/// What a sequential test costs at least (Wald 1945): the expected number of pairs for normal noise
/// of a known spread, were it only to tell no change from a ratio of 1 + `change` in one direction.
struct LeastPairs {
  double unchanged = 0;
  double changed = 0;
};
/// `alpha`: the chance of a false alarm; `beta`: of overlooking the change. All above 0.
LeastPairs least_pairs(double pair_sd, double change, double alpha, double beta);

}  // namespace torchwatch::experiments
