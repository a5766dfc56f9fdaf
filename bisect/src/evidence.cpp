#include "evidence.hpp"

#include <cmath>
#include <numbers>

namespace torchwatch::bisect {
namespace {

constexpr double kKnownSpread = 1e6;  // degrees of freedom of a spread that is given

}  // namespace

Evidence::Evidence(const SearchTarget& target)
    : target_(target), scale_(scale_of_sd(target.noise_sd)), freedom_(target.noise_weight) {}

void Evidence::add(Span span, const std::vector<double>& effects) {
  const bool turned = span.from > span.to;
  auto& known = samples_[turned ? Span{span.to, span.from} : span];
  for (const double effect : effects) known.push_back(turned ? -effect : effect);

  std::vector<const std::vector<double>*> groups;
  for (const auto& [at, samples] : samples_) groups.push_back(&samples);
  scale_ = pooled_scale(groups, scale_of_sd(target_.noise_sd), target_.noise_weight, freedom_);
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
  return std::numbers::sqrt2 * target_.build_sd;
}

}  // namespace torchwatch::bisect
