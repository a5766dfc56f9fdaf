#include "evidence.hpp"

#include <cmath>
#include <numbers>

namespace torchwatch::bisect {
namespace {

constexpr double kKnownSpread = 1e6;  // degrees of freedom of a spread that is given

}  // namespace

Evidence::Evidence(const SearchSeries& series)
    : series_(series),
      scale_(scale_of_sd(series.noise_sd)),
      freedom_(series.noise_weight),
      alone_scale_(scale_ / std::numbers::sqrt2) {}

void Evidence::add(Span span, const std::vector<double>& effects) {
  const bool turned = span.from > span.to;
  auto& known = samples_[turned ? Span{span.to, span.from} : span];
  for (const double effect : effects) known.push_back(turned ? -effect : effect);
  learn_scale();
}

void Evidence::learn_scale() {
  std::vector<const std::vector<double>*> groups;
  for (const auto& [at, samples] : samples_) groups.push_back(&samples);
  scale_ = pooled_scale(groups, scale_of_sd(series_.noise_sd), series_.noise_weight, freedom_);
}

void Evidence::add_level(const std::vector<double>& good, const std::vector<double>& effects) {
  for (std::size_t i = 0; i < good.size(); ++i) {
    good_.push_back(good[i]);
    bad_.push_back(good[i] + effects[i]);
  }
  learn_level();
}

void Evidence::add_alone(Place place, const std::vector<double>& readings) {
  auto& known = alone_[place];
  known.insert(known.end(), readings.begin(), readings.end());
  learn_level();
}

void Evidence::forget(Place place) {
  std::erase_if(samples_, [&](const auto& sample) {
    return sample.first.from == place || sample.first.to == place;
  });
  learn_scale();
  if (alone_.erase(place) > 0) learn_level();
}

void Evidence::forget_level() {
  good_.clear();
  bad_.clear();
  alone_.clear();
  learn_level();
}

void Evidence::learn_level() {
  std::vector<const std::vector<double>*> groups{&good_, &bad_};
  for (const auto& [at, readings] : alone_) groups.push_back(&readings);
  double freedom = 0;
  alone_scale_ = pooled_scale(groups, scale_of_sd(series_.noise_sd) / std::numbers::sqrt2,
                              series_.noise_weight, freedom);
  // A disturbance outlasts a pair, so the two runs of one count as one reading of the level.
  std::vector<double> between;
  std::vector<double> change;
  for (std::size_t i = 0; i < good_.size(); ++i) {
    between.push_back((good_[i] + bad_[i]) / 2);
    change.push_back(bad_[i] - good_[i]);
  }
  level_ = centre_of(between, alone_scale_);
  good_level_ = level_.centre - centre_of(change, scale_).centre / 2;
}

std::map<Place, std::vector<double>> Evidence::alone() const {
  auto effects = alone_;
  for (auto& [at, readings] : effects) {
    for (double& reading : readings) reading -= good_level_;
  }
  return effects;
}

int Evidence::count(Span span) const {
  const auto known = samples_.find(span);
  return known == samples_.end() ? 0 : static_cast<int>(known->second.size());
}

int Evidence::count_alone(Place place) const {
  const auto known = alone_.find(place);
  return known == alone_.end() ? 0 : static_cast<int>(known->second.size());
}

Estimate Evidence::direct(Span span) const {
  const auto known = samples_.find(span);
  return known == samples_.end() ? Estimate{} : centre_of(known->second, scale_);
}

double Evidence::half_width(const Estimate& estimate) const {
  return std::hypot(estimate.error * interval_factor(freedom_),
                    build_spread() * interval_factor(kKnownSpread));
}

double Evidence::build_spread() const {
  return std::numbers::sqrt2 * series_.build_sd;
}

}  // namespace torchwatch::bisect
