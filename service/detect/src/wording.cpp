#include "wording.hpp"

#include "torchwatch/figures/figures.hpp"

namespace torchwatch::detect {

std::string in_words(const Estimate& estimate) {
  if (estimate.pairs == 0) return "nothing measured";
  const std::string change = figures::change(estimate.ratio);
  const std::string pairs = figures::count(static_cast<std::size_t>(estimate.pairs), "pair");
  if (!figures::is_known(estimate.low, estimate.high)) {
    return change + ", " + pairs + ", too few for an interval";
  }
  return change + " " + figures::interval(estimate.low, estimate.high) + " at " +
         figures::confidence(estimate.confidence) + ", " + pairs;
}

}  // namespace torchwatch::detect
