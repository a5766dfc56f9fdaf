#include "simulated_series.hpp"

#include <vector>

namespace torchwatch::detect {
namespace {

/// Measures whole blocks until there are `pairs` pairs.
void measure(const NextRun& next, double slowdown, int pairs, std::vector<double>& log_ratios) {
  while (static_cast<int>(log_ratios.size()) < pairs) {
    std::vector<double> block;
    for (const double factor : {1.0, slowdown, slowdown, 1.0}) block.push_back(next() * factor);
    for (const double ratio : abba_log_ratios(block)) log_ratios.push_back(ratio);
  }
}

}  // namespace

SeriesOutcome judge_simulated_series(const NextRun& screening, const NextRun& confirming,
                                     double slowdown, const Settings& settings) {
  const auto from = [slowdown](const NextRun& next) {
    return [&next, slowdown](std::vector<double>& log_ratios, int pairs) {
      measure(next, slowdown, pairs, log_ratios);
    };
  };
  return judge_series(from(screening), from(confirming), settings);
}

}  // namespace torchwatch::detect
