#include "torchwatch/terminal/geometric_means.hpp"

#include <algorithm>
#include <cmath>

namespace torchwatch::terminal {

bool ran_on_both(const storage::VerdictRow& row) {
  return row.ratio > 0 && std::isfinite(row.ratio) && row.verdict != Verdict::failed &&
         row.verdict != Verdict::unsupported;
}

std::vector<GeometricMean> geometric_means(const std::vector<storage::VerdictRow>& rows) {
  std::vector<GeometricMean> means;  // of logarithms, until all are added
  for (const auto& row : rows) {
    if (!ran_on_both(row)) continue;
    auto mean = std::ranges::find(means, row.series.metric, &GeometricMean::metric);
    if (mean == means.end()) {
      mean = means.insert(mean, {.metric = row.series.metric, .ratio = 0, .benchmarks = 0});
    }
    mean->ratio += std::log(row.ratio);
    ++mean->benchmarks;
  }
  for (auto& mean : means) mean.ratio = std::exp(mean.ratio / mean.benchmarks);
  return means;
}

}  // namespace torchwatch::terminal
