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
struct Weighted {
  double value;
  double weight;
};
constexpr std::array<Weighted, 5> kShares{
    {{0.6, 0.1}, {0.8, 0.2}, {1.0, 0.4}, {1.2, 0.2}, {1.4, 0.1}}};

/// How often a series of an incident has a culprit of its own after all.
constexpr double kOwnCulprit = 0.1;

/// Readings of an exact series still differ a little from the model's levels.
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
constexpr std::array<Weighted, 7> kNormal{{{-3.750439717725742, 0.000548268855972218},
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
Estimate explained(const std::vector<ExplainedStep>& steps, std::size_t series, Span span) {
  Estimate sum;
  for (const auto& step : steps) {
    const auto size = step.sizes.find(series);
    if (!span.holds(step.at) || size == step.sizes.end()) continue;
    sum.centre += size->second.centre;
    sum.error = std::hypot(sum.error, size->second.error);
  }
  return sum;
}

/// A sum for each class of a span, of terms that all classes inside a part of it share.
class ByClass {
 public:
  explicit ByClass(Span span, double base = 0)
      : span_(span), base_(base), changes_(static_cast<std::size_t>(span.to - span.from) + 1) {}

  void add(Span part, double inside, double outside) {
    base_ += outside;
    changes_[index(part.from)] += inside - outside;
    changes_[index(part.to)] -= inside - outside;
  }

  std::vector<double> logs() const {
    std::vector<double> logs(changes_.size() - 1);
    std::partial_sum(changes_.begin(), changes_.end() - 1, logs.begin());
    for (double& value : logs) value += base_;
    return logs;
  }

 private:
  /// The element of the first class behind the place.
  std::size_t index(Place place) const {
    return static_cast<std::size_t>(std::clamp(place, span_.from, span_.to) - span_.from);
  }

  Span span_;
  double base_;
  std::vector<double> changes_;  ///< from one class to the next
};

/// log P(readings of one series | its culprit is class k), for each class of the span.
class ClassLikelihoods {
 public:
  ClassLikelihoods(const Evidence& evidence, const Change& change, Span span,
                   const std::vector<ExplainedStep>& steps)
      : evidence_(evidence), change_(change), span_(span), steps_(steps) {}

  std::vector<double> of_pairs() const {
    ByClass sum(span_);
    const Spread spread{likelihood_scale(evidence_, change_.size), evidence_.build_spread()};
    for (const auto& [read, samples] : evidence_.samples()) add(sum, read, samples, 0, spread);
    return sum.logs();
  }

  /// The ends' level is as good as it was measured, and the same for all runs alone.
  std::vector<double> of_runs_alone() const {
    const auto readings = evidence_.alone();
    if (readings.empty()) return ByClass(span_).logs();
    const Spread spread{alone_scale(evidence_, change_.size), evidence_.build_spread()};
    std::vector<std::vector<double>> by_level;
    for (const auto& [deviations, weight] : kNormal) {
      ByClass sum(span_, std::log(weight));
      const double level = deviations * evidence_.level_error();
      for (const auto& [place, samples] : readings) {
        add(sum, {kGoodEnd, place}, samples, level, spread);
      }
      by_level.push_back(sum.logs());
    }
    std::vector<double> logs(by_level.front().size());
    std::vector<double> at(by_level.size());
    std::vector<double> before;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      std::transform(by_level.begin(), by_level.end(), at.begin(),
                     [i](const auto& level) { return level[i]; });
      // Most classes of a long day are like their neighbour: nothing was read between them.
      logs[i] = at == before ? logs[i - 1] : log_sum(at);
      before = at;
    }
    return logs;
  }

 private:
  /// Samples of how far one place lies from another, each too high by `level`.
  void add(ByClass& sum, Span read, const std::vector<double>& samples, double level,
           Spread spread) const {
    if (read.to > span_.to || read.to <= span_.from) return;  // other changes may lie beyond
    const Estimate before = explained(steps_, change_.series, read);
    spread.build = std::hypot(spread.build, before.error);
    const double outside = log_likelihood(samples, level + before.centre, spread);
    std::vector<double> by_share;
    for (const auto& share : kShares) {
      const double expected = level + before.centre + share.value * change_.size;
      by_share.push_back(std::log(share.weight) + log_likelihood(samples, expected, spread));
    }
    sum.add(read, log_sum(by_share), outside);
  }

  const Evidence& evidence_;
  const Change& change_;
  Span span_;
  const std::vector<ExplainedStep>& steps_;
};

void add(std::vector<double>& sum, const std::vector<double>& logs) {
  std::transform(sum.begin(), sum.end(), logs.begin(), sum.begin(), std::plus<>());
}

/// A supporting series speaks for the lead's culprit or, now and then, for one of its own.
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

double alone_scale(const Evidence& evidence, double size) {
  return std::max(evidence.alone_scale(), kExactShare * std::abs(size));
}

std::vector<double> posterior_of(const Problem& problem, const SearchRecord& record,
                                 const std::vector<ExplainedStep>& steps,
                                 const Penalties& penalties) {
  std::vector<double> sum;
  for (Place place = problem.span.from + 1; place <= problem.span.to; ++place) {
    const auto penalty = penalties.find(place);
    const double prior = record.prior(place);
    sum.push_back(prior > 0 ? std::log(prior) : kImpossible);
    if (penalty != penalties.end()) sum.back() += penalty->second;
  }
  for (const auto& change : problem.changes) {
    const ClassLikelihoods likelihoods(record.evidence(change.series), change, problem.span, steps);
    auto support = likelihoods.of_pairs();
    if (problem.trusts_alone) add(support, likelihoods.of_runs_alone());
    if (&change != &problem.changes.front()) {
      add_support(sum, support);
    } else {
      add(sum, support);
    }
  }
  const double total = log_sum(sum);
  for (double& value : sum) value = total == kImpossible ? 0 : std::exp(value - total);
  return sum;
}

std::vector<Group> groups_of(const Problem& problem, const SearchRecord& record,
                             const std::vector<double>& posterior) {
  const Span span = problem.span;
  const auto lead = problem.changes.front().series;
  std::vector<Group> groups;
  Group group{.first = span.from + 1, .last = span.from + 1, .parent = span.from};
  for (Place place = span.from + 1; place <= span.to; ++place) {
    group.last = place;
    group.mass += posterior[static_cast<std::size_t>(place - span.from - 1)];
    if (!record.can_read(lead, place)) continue;
    groups.push_back(group);
    group = {.first = place + 1, .last = place + 1, .parent = place};
  }
  return groups;
}

}  // namespace torchwatch::bisect
