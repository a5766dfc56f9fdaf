#pragma once

#include <cmath>
#include <vector>

#include "simulated_search.hpp"

namespace torchwatch::test {

using Classes = std::vector<std::size_t>;

constexpr bisect::SearchSeries kExactBytes{.noise_sd = 0, .noise_weight = 4, .minimum_effect = 1};

inline bisect::SearchSeries noisy(double sd) {
  return {.noise_sd = sd, .noise_weight = 4, .minimum_effect = 0.034};
}

inline SimulatedDay exact_day(std::size_t classes, std::size_t culprit) {
  return {classes, {{{culprit, 4096}}}, {}, {}};
}

inline SimulatedDay noisy_day(std::size_t classes, std::size_t culprit, double ratio,
                              double pair_sd) {
  const double run_sd = pair_sd / std::sqrt(2.0);
  return {classes, {{{culprit, std::log(ratio)}}}, {}, {run_sd, 0.02, 0.12}};
}

inline SimulatedSearch search_through(SimulatedDay day,
                                      const std::vector<bisect::SearchSeries>& all_series,
                                      std::uint64_t seed = 1,
                                      bisect::SearchSettings settings = {}) {
  auto search = bisect::CulpritSearch::create(settings, all_series, day.classes).value();
  SimulatedRuns runs(std::move(day), seed);
  return run_to_end(search, runs);
}

}  // namespace torchwatch::test
