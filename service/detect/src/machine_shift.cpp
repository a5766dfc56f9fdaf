#include "torchwatch/detect/machine_shift.hpp"

#include <algorithm>
#include <cmath>

namespace torchwatch::detect {

std::optional<Estimate> machine_shift(std::span<const double> log_ratios,
                                      const Settings& settings) {
  if (log_ratios.size() < 2) return std::nullopt;
  auto shift = estimate(log_ratios, settings.confidence);
  if (!std::isfinite(shift.high)) {
    const auto [least, greatest] = std::ranges::minmax(log_ratios);
    shift.low = std::exp(least);
    shift.high = std::exp(greatest);
  }
  const double limit = 1 + settings.threshold / 2;
  if (shift.low > limit || shift.high < 1 / limit) return shift;
  return std::nullopt;
}

}  // namespace torchwatch::detect
