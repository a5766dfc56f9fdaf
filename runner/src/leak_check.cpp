#include "torchwatch/runner/leak_check.hpp"

#include <algorithm>
#include <cmath>

namespace torchwatch::runner {
namespace {

constexpr std::size_t kBlock = 10;
constexpr double kLeakSlopeMin = 64;
constexpr double kHeapSlopeMin = 1024;

bool every_block_rises(const std::vector<std::int64_t>& levels) {
  const auto blocks = levels.size() / kBlock;
  if (blocks < 2) return false;
  auto block = levels.begin();
  auto before = *std::min_element(block, block + kBlock);
  for (std::size_t i = 1; i < blocks; ++i) {
    block += kBlock;
    const auto lowest = *std::min_element(block, block + kBlock);
    if (lowest <= before) return false;
    before = lowest;
  }
  return true;
}

/// Median of the slopes between all pairs.
double theil_sen(const std::vector<std::int64_t>& values) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back(static_cast<double>(values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

std::int64_t growth(const std::vector<std::int64_t>& levels, double slope_min) {
  if (!every_block_rises(levels)) return 0;
  const double slope = theil_sen(levels);
  return slope < slope_min ? 0 : std::llround(slope);
}

}  // namespace

std::int64_t leak_growth(const std::vector<std::int64_t>& live_bytes) {
  return growth(live_bytes, kLeakSlopeMin);
}

std::int64_t heap_growth(const std::vector<std::int64_t>& heap_bytes) {
  return growth(heap_bytes, kHeapSlopeMin);
}

}  // namespace torchwatch::runner
