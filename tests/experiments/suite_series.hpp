#pragma once

namespace torchwatch::experiments {

/// Series that share the budget of false incidents: models, configurations, watched metrics.
inline constexpr int kSeriesOfSuite = 84 * 4 * 6;

}  // namespace torchwatch::experiments
