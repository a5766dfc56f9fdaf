#include "peer_searches.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "recorded_noise.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::experiments {
namespace {

/// The place nearest to the middle of two that builds; none if nothing between them does.
std::optional<Place> build_between(DayRuns& runs, Place good, Place bad) {
  const Place middle = good + (bad - good) / 2;
  for (Place distance = 0; distance < bad - good; ++distance) {
    for (const Place place : {middle - distance, middle + distance}) {
      if (place > good && place < bad && runs.build(place)) return place;
    }
  }
  return {};
}

std::vector<std::size_t> between(Place good, Place bad) {
  std::vector<std::size_t> commits;
  for (Place place = good + 1; place <= bad; ++place) {
    commits.push_back(static_cast<std::size_t>(place));
  }
  return commits;
}

/// As many places as there are builders, evenly spaced among those between the two that were not
/// tried before; fewer where there are fewer.
std::vector<Place> untried_between(const DayRuns& runs, Place good, Place bad,
                                   std::size_t builders) {
  std::vector<Place> untried;
  for (Place place = good + 1; place < bad; ++place) {
    if (!runs.is_tried(place)) untried.push_back(place);
  }
  if (untried.size() <= builders) return untried;
  std::vector<Place> chosen;
  for (std::size_t i = 1; i <= builders; ++i) {
    chosen.push_back(untried[i * untried.size() / (builders + 1)]);
  }
  return chosen;
}

Blamed binary_search(DayRuns& runs, const std::function<bool(Place)>& is_bad) {
  Place good = kGoodEnd;
  Place bad = runs.day().last();
  while (const auto middle = build_between(runs, good, bad)) {
    (is_bad(*middle) ? bad : good) = *middle;
  }
  return {between(good, bad)};
}

constexpr int kRuns = 5;  ///< of a commit whose median is taken

/// The middle between the medians of the two ends; none where they differ by less than 3.5 %.
std::optional<double> middle_of_ends(DayRuns& runs) {
  const double good = median(runs.run(kGoodEnd, kRuns));
  const double bad = median(runs.run(runs.day().last(), kRuns));
  if (bad - good < std::log(1.035)) return {};
  return (good + bad) / 2;
}

/// Pinpoint's p-values above which two commits count as the same, for steps of 0.5, 0.6, ...
/// interquartile ranges after 10, 20 and 40 attempts (thresholds.py, commit 32115a7d; larger steps
/// are decided by ten attempts).
constexpr std::array<std::array<double, 3>, 14> kSameAbove{{{.9699, .9246, .5223},
                                                            {.9699, .7972, .2542},
                                                            {.9699, .5793, .0791},
                                                            {.8502, .3235, .0197},
                                                            {.7338, .1806, .0049},
                                                            {.5708, .0859, .0032},
                                                            {.4274, .0386, .0030},
                                                            {.2731, .0144, .0030},
                                                            {.1859, .0066, .0066},
                                                            {.1213, .0026, .0026},
                                                            {.0757, .0090, .0090},
                                                            {.0452, .0048, .0048},
                                                            {.0258, .0022, .0022},
                                                            {.0173, .0011, .0011}}};
constexpr double kDifferentBelow = 0.01;
constexpr std::size_t kAttemptsFirst = 10;
constexpr std::size_t kAttemptsMax = 40;

double interquartile_range(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 3 / 4] - values[values.size() / 4];
}

enum class Schedule { different, same, unknown };

Schedule compare(const std::vector<double>& a, const std::vector<double>& b, double step) {
  const double p = std::min(mann_whitney_p(a, b), kolmogorov_smirnov_p(a, b));
  if (p <= kDifferentBelow) return Schedule::different;
  const double spread = (interquartile_range(a) + interquartile_range(b)) / 2;
  const double magnitude = std::clamp(10 * step / spread - 5, 0.0, 99.0);
  const auto row = static_cast<std::size_t>(magnitude);
  if (row >= kSameAbove.size()) return Schedule::same;
  const std::size_t attempts = (a.size() + b.size()) / 2;
  const double same_above = kSameAbove[row][attempts < 20 ? 0 : attempts < 40 ? 1 : 2];
  return p > same_above ? Schedule::same : Schedule::unknown;
}

/// Attempts are made of one commit after the other, until every pair of neighbours is decided.
class Pinpoint {
 public:
  Pinpoint(DayRuns& runs, double step) : runs_(runs), step_(step) {
    for (const Place end : {kGoodEnd, runs.day().last()}) attempt(end, kAttemptsFirst);
  }

  Blamed search() {
    while (refine()) {
    }
    Blamed blamed;
    for (auto left = attempts_.begin(), right = std::next(left); right != attempts_.end();
         left = right++) {
      if (compare(left->second, right->second, step_) != Schedule::different) continue;
      blamed.push_back(between(left->first, right->first));
    }
    return blamed;
  }

 private:
  /// One more step between the first neighbours that need it; false: none does.
  bool refine() {
    for (auto left = attempts_.begin(), right = std::next(left); right != attempts_.end();
         left = right++) {
      switch (compare(left->second, right->second, step_)) {
        case Schedule::same:
          continue;
        case Schedule::unknown:
          if (attempt_more(left->first, right->first)) return true;
          continue;
        case Schedule::different:
          if (const auto middle = build_between(runs_, left->first, right->first)) {
            attempt(*middle, kAttemptsFirst);
            return true;
          }
      }
    }
    return false;
  }

  bool attempt_more(Place left, Place right) {
    const Place fewer = attempts_[left].size() <= attempts_[right].size() ? left : right;
    const std::size_t count = attempts_[fewer].size();
    if (count >= kAttemptsMax) return false;
    attempt(fewer, count);
    return true;
  }

  void attempt(Place place, std::size_t count) {
    const auto measured = runs_.run(place, static_cast<int>(count));
    attempts_[place].insert(attempts_[place].end(), measured.begin(), measured.end());
  }

  DayRuns& runs_;
  double step_;
  std::map<Place, std::vector<double>> attempts_;
};

struct Beta {
  double failed;
  double passed;
};
constexpr Beta kPriorBad{0.9, 0.1};
constexpr Beta kPriorGood{0.05, 0.95};

double log_beta(Beta beta) {
  return std::lgamma(beta.failed) + std::lgamma(beta.passed) -
         std::lgamma(beta.failed + beta.passed);
}

/// Sums of the weights of what may follow a run, to tell the entropy that it leaves.
struct Entropy {
  double sum = 0;
  double sum_of_logs = 0;
  void add(double weight, double sign = 1) {
    sum += sign * weight;
    if (weight > 0) sum_of_logs += sign * weight * std::log2(weight);
  }
  /// Times the chance that it is left.
  double expected() const { return sum > 0 ? sum * std::log2(sum) - sum_of_logs : 0; }
};

class PassFailPosterior {
 public:
  explicit PassFailPosterior(std::size_t commits)
      : counts_(commits + 1, Beta{0, 0}), possible_(commits, true), posterior_(commits, 0.0) {
    update();
  }

  void record(Place place, bool failed) {
    Beta& counts = counts_[static_cast<std::size_t>(place + 1)];
    (failed ? counts.failed : counts.passed) += 1;
    update();
  }
  void rule_out(Place place) { possible_[static_cast<std::size_t>(place)] = false; }
  bool is_possible(Place place) const { return possible_[static_cast<std::size_t>(place)]; }
  double at(std::size_t commit) const { return posterior_[commit]; }

  /// The possible commit whose next run leaves the least entropy to expect.
  Place best() const {
    Entropy failed;
    Entropy passed;
    // First as if a run of a commit before them all told of every culprit that it is good.
    for (std::size_t k = 0; k < posterior_.size(); ++k) {
      failed.add(posterior_[k] * chance(good_[k]));
      passed.add(posterior_[k] * (1 - chance(good_[k])));
    }
    Place best = 0;
    double least = INFINITY;
    for (std::size_t k = 0; k < posterior_.size(); ++k) {
      failed.add(posterior_[k] * chance(good_[k]), -1);
      passed.add(posterior_[k] * (1 - chance(good_[k])), -1);
      failed.add(posterior_[k] * chance(bad_[k]));
      passed.add(posterior_[k] * (1 - chance(bad_[k])));
      const double left = failed.expected() + passed.expected();
      if (possible_[k] && left < least) {
        least = left;
        best = static_cast<Place>(k);
      }
    }
    return best;
  }

 private:
  static double chance(Beta beta) { return beta.failed / (beta.failed + beta.passed); }

  void update() {
    Beta before = kPriorGood;
    Beta behind = kPriorBad;
    for (const Beta& counts : counts_) {
      behind.failed += counts.failed;
      behind.passed += counts.passed;
    }
    good_.clear();
    bad_.clear();
    for (std::size_t k = 0; k < posterior_.size(); ++k) {
      before.failed += counts_[k].failed;
      before.passed += counts_[k].passed;
      behind.failed -= counts_[k].failed;
      behind.passed -= counts_[k].passed;
      good_.push_back(before);
      bad_.push_back(behind);
      posterior_[k] = log_beta(before) + log_beta(behind);
    }
    const double largest = *std::max_element(posterior_.begin(), posterior_.end());
    for (double& value : posterior_) value = std::exp(value - largest);
    const double sum = std::accumulate(posterior_.begin(), posterior_.end(), 0.0);
    for (double& value : posterior_) value /= sum;
  }

  std::vector<Beta> counts_;  ///< by place; the good end first
  std::vector<bool> possible_;
  std::vector<double> posterior_;
  std::vector<Beta> good_;  ///< chance to fail before the commit, if it is the culprit ...
  std::vector<Beta> bad_;   ///< ... and from it on
};

/// The most probable set of commits that cannot be divided any further, if it has enough.
std::optional<std::vector<std::size_t>> sure_set(const PassFailPosterior& posterior,
                                                 std::size_t commits, double confidence) {
  std::vector<std::size_t> set;
  double mass = 0;
  for (std::size_t commit = 0; commit < commits; ++commit) {
    set.push_back(commit);
    mass += posterior.at(commit);
    if (!posterior.is_possible(static_cast<Place>(commit))) continue;
    if (mass >= confidence) return set;
    set.clear();
    mass = 0;
  }
  return {};
}

}  // namespace

double mann_whitney_p(const std::vector<double>& a, const std::vector<double>& b) {
  double wins = 0;
  for (const double x : a) {
    for (const double y : b) wins += x > y ? 1 : x == y ? 0.5 : 0;
  }
  const auto m = static_cast<double>(a.size());
  const auto n = static_cast<double>(b.size());
  const double deviation = std::sqrt(m * n * (m + n + 1) / 12);
  const double distance = std::max(std::abs(wins - m * n / 2) - 0.5, 0.0);
  return std::erfc(distance / deviation / std::sqrt(2.0));
}

double kolmogorov_smirnov_p(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto share_up_to = [](const std::vector<double>& sorted, double value) {
    const auto end = std::upper_bound(sorted.begin(), sorted.end(), value);
    return static_cast<double>(end - sorted.begin()) / static_cast<double>(sorted.size());
  };
  double distance = 0;
  for (const auto* values : {&a, &b}) {
    for (const double value : *values) {
      distance = std::max(distance, std::abs(share_up_to(a, value) - share_up_to(b, value)));
    }
  }
  const auto m = static_cast<double>(a.size());
  const auto n = static_cast<double>(b.size());
  const double root = std::sqrt(m * n / (m + n));
  const double x = (root + 0.12 + 0.11 / root) * distance;
  double p = 0;
  for (int term = 1; term <= 100; ++term) {
    p += (term % 2 == 1 ? 2 : -2) * std::exp(-2.0 * term * term * x * x);
  }
  return x < 0.2 ? 1 : std::clamp(p, 0.0, 1.0);
}

Blamed binary_search_7_percent(DayRuns& runs) {
  const double threshold = std::log(1.07);
  const double good = runs.run(kGoodEnd);
  const auto is_bad = [&](Place place) { return runs.run(place) - good > threshold; };
  if (!is_bad(runs.day().last())) return {};
  return binary_search(runs, is_bad);
}

Blamed git_bisect_median_of_five(DayRuns& runs) {
  const auto limit = middle_of_ends(runs);
  if (!limit) return {};
  return binary_search(runs, [&](Place place) { return median(runs.run(place, kRuns)) > *limit; });
}

Blamed section_median_of_five(DayRuns& runs, std::size_t builders) {
  const auto limit = middle_of_ends(runs);
  if (!limit) return {};
  Place good = kGoodEnd;
  Place bad = runs.day().last();
  for (;;) {
    const auto places = untried_between(runs, good, bad, builders);
    if (places.empty()) return {between(good, bad)};
    const auto built = runs.build_at_once(places);
    const auto first_bad = std::partition_point(built.begin(), built.end(), [&](Place place) {
      return median(runs.run(place, kRuns)) <= *limit;
    });
    if (first_bad != built.begin()) good = *std::prev(first_bad);
    if (first_bad != built.end()) bad = *first_bad;
  }
}

Blamed pinpoint(DayRuns& runs, double step) {
  return Pinpoint(runs, step).search();
}

Blamed bayes_of_pass_and_fail(DayRuns& runs, double step) {
  constexpr double kConfidence = 0.99;
  constexpr int kRunsMax = 400;
  PassFailPosterior posterior(runs.day().commits);
  const auto record = [&](Place place) { posterior.record(place, runs.run(place) > step / 2); };
  record(kGoodEnd);
  record(runs.day().last());
  while (runs.runs() < kRunsMax) {
    if (const auto sure = sure_set(posterior, runs.day().commits, kConfidence)) return {*sure};
    const Place place = posterior.best();
    if (runs.build(place)) {
      record(place);
    } else {
      posterior.rule_out(place);
    }
  }
  return {};
}

}  // namespace torchwatch::experiments
