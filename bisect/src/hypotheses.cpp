#include "hypotheses.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace torchwatch::bisect {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Behind the culprit a reading need not be the whole change: another culprit may follow, and the
/// whole is known only roughly.
struct Level {
  double share;
  double weight;
};
constexpr std::array<Level, 5> kLevels{
    {{0.6, 0.1}, {0.8, 0.2}, {1.0, 0.4}, {1.2, 0.2}, {1.4, 0.1}}};

/// How often a target of an incident has a culprit of its own after all.
constexpr double kOwnCulprit = 0.1;

/// Readings of an exact target still differ a little from the model's levels.
constexpr double kExactShare = 0.01;

double log_sum(const std::vector<double>& logs) {
  const double largest = *std::max_element(logs.begin(), logs.end());
  if (largest == kImpossible) return kImpossible;
  double sum = 0;
  for (const double value : logs) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

/// Spread of readings about what a hypothesis expects of them.
struct Spread {
  double pair;   ///< scale of each pair by itself
  double build;  ///< deviation that all pairs of the two builds share
};

/// A normal distribution by seven points (Gauss-Hermite), in deviations.
constexpr std::array<Level, 7> kNormal{{{-3.750439717725742, 0.000548268855972218},
                                        {-2.366759410734541, 0.030757123967586},
                                        {-1.154405394739968, 0.240123178605013},
                                        {0, 0.457142857142857},
                                        {1.154405394739968, 0.240123178605013},
                                        {2.366759410734541, 0.030757123967586},
                                        {3.750439717725742, 0.000548268855972218}}};

double log_likelihood(const std::vector<double>& samples, double expected, double scale) {
  double sum = 0;
  for (const double sample : samples) sum += log_density(sample - expected, scale);
  return sum;
}

double log_likelihood(const std::vector<double>& samples, double expected, Spread spread) {
  if (spread.build <= 0) return log_likelihood(samples, expected, spread.pair);
  std::vector<double> logs;
  for (const auto& [deviations, weight] : kNormal) {
    const double shifted = expected + deviations * spread.build;
    logs.push_back(std::log(weight) + log_likelihood(samples, shifted, spread.pair));
  }
  return log_sum(logs);
}

/// What the found culprits explain of a reading over the span.
Estimate explained(const std::vector<Step>& steps, std::size_t target, Span span) {
  Estimate sum;
  for (const auto& step : steps) {
    const auto size = step.sizes.find(target);
    if (!span.holds(step.at) || size == step.sizes.end()) continue;
    sum.centre += size->second.centre;
    sum.error = std::hypot(sum.error, size->second.error);
  }
  return sum;
}

/// log P(readings of one target | its culprit is class k), for each class of the span.
std::vector<double> log_likelihoods(const Evidence& evidence, const Change& change, Span span,
                                    const std::vector<Step>& steps) {
  std::vector<double> logs(static_cast<std::size_t>(span.to - span.from), 0.0);
  for (const auto& [read, samples] : evidence.samples()) {
    if (read.to > span.to || read.to <= span.from) continue;  // other changes may lie beyond
    const Estimate before = explained(steps, change.target, read);
    const Spread spread{likelihood_scale(evidence, change.size),
                        std::hypot(evidence.build_spread(), before.error)};
    const double outside = log_likelihood(samples, before.centre, spread);
    std::vector<double> by_level;
    for (const auto& level : kLevels) {
      const double expected = before.centre + level.share * change.size;
      by_level.push_back(std::log(level.weight) + log_likelihood(samples, expected, spread));
    }
    const double inside = log_sum(by_level);
    for (std::size_t i = 0; i < logs.size(); ++i) {
      logs[i] += read.holds(span.from + 1 + static_cast<Place>(i)) ? inside : outside;
    }
  }
  return logs;
}

/// A supporting target speaks for the lead's culprit or, now and then, for one of its own.
void add_support(std::vector<double>& sum, const std::vector<double>& logs) {
  const double anywhere = log_sum(logs) - std::log(static_cast<double>(logs.size()));
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += log_sum({std::log(1 - kOwnCulprit) + logs[i], std::log(kOwnCulprit) + anywhere});
  }
}

}  // namespace

double likelihood_scale(const Evidence& evidence, double size) {
  return std::max(evidence.scale(), kExactShare * std::abs(size));
}

std::vector<double> posterior_of(const Problem& problem, const SearchRecord& record,
                                 const std::vector<Step>& steps, const Penalties& penalties) {
  std::vector<double> logs;
  for (Place place = problem.span.from + 1; place <= problem.span.to; ++place) {
    const auto penalty = penalties.find(place);
    const double prior = record.prior(place);
    logs.push_back(prior > 0 ? std::log(prior) : kImpossible);
    if (penalty != penalties.end()) logs.back() += penalty->second;
  }
  for (const auto& change : problem.changes) {
    const auto support =
        log_likelihoods(record.evidence(change.target), change, problem.span, steps);
    if (&change != &problem.changes.front()) {
      add_support(logs, support);
    } else {
      std::transform(logs.begin(), logs.end(), support.begin(), logs.begin(), std::plus<>());
    }
  }
  const double total = log_sum(logs);
  for (double& value : logs) value = total == kImpossible ? 0 : std::exp(value - total);
  return logs;
}

std::vector<Group> groups_of(Span span, const SearchRecord& record,
                             const std::vector<double>& posterior) {
  std::vector<Group> groups;
  Group group{span.from + 1, span.from + 1, span.from, 0};
  for (Place place = span.from + 1; place <= span.to; ++place) {
    group.last = place;
    group.mass += posterior[static_cast<std::size_t>(place - span.from - 1)];
    if (record.is_broken(place)) continue;
    groups.push_back(group);
    group = {place + 1, place + 1, place, 0};
  }
  return groups;
}

}  // namespace torchwatch::bisect
