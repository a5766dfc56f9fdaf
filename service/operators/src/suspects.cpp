#include "torchwatch/operators/suspects.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "torchwatch/figures/figures.hpp"

namespace torchwatch::operators {
namespace {

/// How much more a single workload must show than all of them together.
constexpr double kAloneFactor = 1.5;

/// The share of an operator's growth that others must have given up.
constexpr double kMovedLeast = 0.5;

/// The share of its own time by which one that gave something up takes less: work that left it, and
/// not that it got a little faster.
constexpr double kGivenUpLeast = 0.1;

/// An operator in one workload.
struct InWorkload {
  const WatchedPairs* of = nullptr;
  double share = 0;      ///< of an iteration, before
  double log_ratio = 0;  ///< the mean of its pairs
};

/// The operator's time in a run; 0 where it is not called.
double self_of(const Figures& figures, const std::string& name) {
  const auto found = figures.find(name);
  return found == figures.end() ? 0 : static_cast<double>(found->second.self_ns);
}

std::set<std::string> names_of(const WatchedPairs& watched) {
  std::set<std::string> names;
  for (const auto& pair : watched.pairs) {
    for (const auto& [name, figures] : pair.before) {
      if (parse_variant("operator=" + name)) names.insert(name);
    }
  }
  return names;
}

/// What the pairs of a workload say of an operator; nothing where it takes too little, or a run
/// does not call it.
std::optional<InWorkload> in_workload(const WatchedPairs& watched, const std::string& name) {
  double before_ns = 0;
  double logs = 0;
  for (const auto& pair : watched.pairs) {
    const auto before = self_of(pair.before, name);
    const auto after = self_of(pair.after, name);
    if (before <= 0 || after <= 0) return std::nullopt;
    before_ns += before;
    logs += std::log(after / before);
  }
  const auto pairs = static_cast<double>(watched.pairs.size());
  const auto share = before_ns / pairs / watched.iteration_ns;
  if (share < kShareJudged) return std::nullopt;
  return InWorkload{.of = &watched, .share = share, .log_ratio = logs / pairs};
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// A suspect, where the workloads that call it say so.
std::optional<Suspect> suspect(const std::string& name, const std::vector<InWorkload>& all,
                               double least) {
  std::vector<double> log_ratios;
  for (const auto& each : all) log_ratios.push_back(each.log_ratio);
  const bool is_common = median_of(log_ratios) >= std::log1p(least);
  const auto enough = std::log1p(is_common ? least : kAloneFactor * least);
  Suspect found{.name = name};
  const InWorkload* best = nullptr;
  for (const auto& each : all) {
    if (each.log_ratio < enough) continue;
    found.carriers.insert(each.of->benchmark);
    if (best == nullptr || each.share > best->share) best = &each;
  }
  if (best == nullptr) return std::nullopt;
  found.carrier = best->of->benchmark;
  found.ratio = std::exp(best->log_ratio);
  return found;
}

}  // namespace

Screened screen(const std::vector<WatchedPairs>& watched, double least) {
  std::map<std::string, std::vector<InWorkload>> by_name;
  for (const auto& each : watched) {
    if (each.pairs.empty() || each.iteration_ns <= 0) continue;
    for (const auto& name : names_of(each)) {
      const auto found = in_workload(each, name);
      if (found) by_name[name].push_back(*found);
    }
  }
  Screened screened{.operators = static_cast<int>(by_name.size())};
  for (const auto& [name, all] : by_name) {
    auto found = suspect(name, all, least);
    if (found) screened.suspects.push_back(*std::move(found));
  }
  std::ranges::stable_sort(screened.suspects, std::ranges::greater{}, &Suspect::ratio);
  return screened;
}

static bool gave_time_up(const Change& change) {
  if (change.name == kOutsideOperators || change.high_ns >= 0) return false;
  return -change.difference_ns >= kGivenUpLeast * static_cast<double>(change.before.self_ns);
}

std::optional<std::string> moved_from(const std::vector<Pair>& pairs, const std::string& name) {
  const auto changes = changes_in(pairs);
  const auto grown = std::ranges::find(changes, name, &Change::name);
  if (grown == changes.end() || grown->difference_ns <= 0) return std::nullopt;
  double given_up = 0;
  const Change* most = nullptr;
  for (const auto& change : changes) {
    if (!gave_time_up(change)) continue;
    given_up -= change.difference_ns;
    if (most == nullptr) most = &change;
  }
  if (most == nullptr || given_up < kMovedLeast * grown->difference_ns) return std::nullopt;
  return "its time moved from " + most->name + ", which takes " +
         figures::difference(Metric::time, most->difference_ns);
}

}  // namespace torchwatch::operators
