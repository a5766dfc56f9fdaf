#include "torchwatch/runner/leak_check.hpp"

#include <algorithm>
#include <cmath>

namespace torchwatch::runner {
namespace {

constexpr std::size_t kBlock = 10;
constexpr double kSlopeMin = 64;

bool every_block_rises(const std::vector<std::int64_t>& live_bytes) {
  const auto blocks = live_bytes.size() / kBlock;
  if (blocks < 2) return false;
  auto block = live_bytes.begin();
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

}  // namespace

std::int64_t leak_growth(const std::vector<std::int64_t>& live_bytes) {
  if (!every_block_rises(live_bytes)) return 0;
  const double slope = theil_sen(live_bytes);
  return slope < kSlopeMin ? 0 : std::llround(slope);
}

}  // namespace torchwatch::runner
