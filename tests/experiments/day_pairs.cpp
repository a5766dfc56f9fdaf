#include "day_pairs.hpp"

#include <stdexcept>

namespace torchwatch::experiments {

bisect::SearchEvent DayPairs::carry_out(const bisect::Measure& measure) {
  if (measure.alone) throw std::logic_error("a run alone was ordered, and there are only pairs");
  const double effect =
      level(static_cast<Place>(measure.candidate)) - level(place_of(measure.reference));
  std::uniform_int_distribution<std::size_t> any(0, noise_.size() - 1);
  std::vector<double> effects;
  for (int pair = 0; pair < measure.pairs; ++pair) effects.push_back(effect + noise_[any(random_)]);
  runs_ += 2 * measure.pairs;
  return bisect::Measured{measure.candidate, measure.reference, {{0, std::move(effects)}}};
}

double DayPairs::level(Place place) {
  if (!own_.contains(place)) {
    own_[place] = build_spread_ * std::normal_distribution<double>()(random_);
  }
  return day().slowdown(place) + own_[place];
}

}  // namespace torchwatch::experiments
