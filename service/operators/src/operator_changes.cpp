#include "torchwatch/operators/operator_changes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "torchwatch/detect/t_interval.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::operators {
namespace {

constexpr std::size_t kPairsLeast = 3;

OperatorFigures of(const Figures& figures, const std::string& name) {
  const auto found = figures.find(name);
  return found == figures.end() ? OperatorFigures() : found->second;
}

OperatorFigures medians_of(const std::vector<OperatorFigures>& all) {
  const auto median_of = [&](std::int64_t OperatorFigures::* member) {
    std::vector<std::int64_t> values;
    for (const auto& each : all) values.push_back(each.*member);
    return median(values);
  };
  return {.calls = median_of(&OperatorFigures::calls),
          .self_ns = median_of(&OperatorFigures::self_ns),
          .allocated_bytes = median_of(&OperatorFigures::allocated_bytes),
          .kept_bytes = median_of(&OperatorFigures::kept_bytes)};
}

/// The mean difference of the pairs with its interval, in ns. What disturbs a pair lengthens both
/// of its runs, so ratios scatter less than differences; what one side does not call has none.
detect::TInterval difference_in(const std::vector<OperatorFigures>& before,
                                const std::vector<OperatorFigures>& after, double base_ns,
                                double error) {
  std::vector<double> log_ratios;
  std::vector<double> differences;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto from = static_cast<double>(before[i].self_ns);
    const auto to = static_cast<double>(after[i].self_ns);
    differences.push_back(to - from);
    if (from > 0 && to > 0) log_ratios.push_back(std::log(to / from));
  }
  if (log_ratios.size() < before.size()) return detect::t_interval(differences, error);
  const auto logs = detect::t_interval(log_ratios, error);
  return {.mean = base_ns * std::expm1(logs.mean),
          .low = base_ns * std::expm1(logs.low),
          .high = base_ns * std::expm1(logs.high)};
}

Change change_in(const std::vector<Pair>& pairs, const std::string& name, std::size_t operators) {
  std::vector<OperatorFigures> before;
  std::vector<OperatorFigures> after;
  for (const auto& pair : pairs) {
    before.push_back(of(pair.before, name));
    after.push_back(of(pair.after, name));
  }
  Change change{.name = name, .before = medians_of(before), .after = medians_of(after)};
  const auto interval = difference_in(before, after, static_cast<double>(change.before.self_ns),
                                      (1 - kConfidence) / static_cast<double>(operators));
  change.difference_ns = interval.mean;
  if (pairs.size() < kPairsLeast) return change;
  change.low_ns = interval.low;
  change.high_ns = interval.high;
  return change;
}

}  // namespace

std::vector<Change> changes_in(const std::vector<Pair>& pairs) {
  std::set<std::string> names;
  for (const auto& pair : pairs) {
    for (const auto* side : {&pair.before, &pair.after}) {
      for (const auto& [name, figures] : *side) names.insert(name);
    }
  }
  std::vector<Change> changes;
  for (const auto& name : names) changes.push_back(change_in(pairs, name, names.size()));
  std::ranges::stable_sort(changes, std::ranges::greater{},
                           [](const Change& change) { return std::abs(change.difference_ns); });
  return changes;
}

bool takes_more(const Change& change, double iteration_ns) {
  return change.low_ns > kShareLeast * iteration_ns;
}

bool takes_less(const Change& change, double iteration_ns) {
  return change.high_ns < -kShareLeast * iteration_ns;
}

}  // namespace torchwatch::operators
