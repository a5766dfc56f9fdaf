// What memory, leaks and outputs of a benchmark say: a few runs of each build, without statistics.
#include <algorithm>
#include <ranges>

#include "benchmark_schedule.hpp"
#include "torchwatch/detect/memory_verdict.hpp"
#include "torchwatch/detect/output_verdict.hpp"

namespace torchwatch::comparison {
namespace {

using storage::RunRow;

std::vector<std::int64_t> whole_values(const std::vector<const RunRow*>& runs, Metric metric) {
  std::vector<std::int64_t> result;
  for (const auto* run : runs) {
    const auto found = run->values.find(metric);
    if (found != run->values.end()) result.push_back(found->second);
  }
  return result;
}

/// The values of one metric in the runs of both builds.
struct BothSides {
  std::vector<std::int64_t> baseline;
  std::vector<std::int64_t> candidate;

  detect::MemoryRuns runs() const { return {.baseline = baseline, .candidate = candidate}; }
};

/// `fresh`: the runs that confirm a suspicion; none while screening.
detect::MemoryDecision judge(const Series& series, const BothSides& screened,
                             const std::optional<BothSides>& fresh,
                             const detect::Settings& settings) {
  const auto metric = series.metric;
  const auto& [baseline, candidate] = fresh ? *fresh : screened;
  if (is_leak(metric)) return detect::judge_leak(metric, baseline, candidate, settings);
  if (metric == Metric::output_difference) {
    return detect::judge_outputs(baseline, candidate, series.benchmark.variant.precision, settings);
  }
  return fresh ? detect::confirm_peak(metric, screened.runs(), fresh->runs(), settings)
               : detect::judge_peak(metric, screened.runs(), settings);
}

/// "; most in logits float32 [4, 1000]", of the run that is furthest; empty where outputs are equal
/// or not the same ones.
std::string furthest_of(const std::vector<const RunRow*>& runs) {
  // A run that confirms may lack the outputs that those had which raised the suspicion.
  const auto difference = [](const RunRow* run) {
    const auto found = run->values.find(Metric::output_difference);
    return found == run->values.end() ? -1 : found->second;
  };
  const auto* furthest = *std::ranges::max_element(runs, {}, difference);
  const bool is_stated = difference(furthest) >= 0 && !furthest->reason.empty();
  return is_stated ? "; " + furthest->reason : "";
}

}  // namespace

std::optional<BenchmarkSchedule::Runs> BenchmarkSchedule::first_pair() const {
  const auto first = block(Stage::screen, 0);
  Runs runs;
  for (const int position : {0, 1}) {
    if (!schedule_.slots_.is_closed(first.slot(position))) return std::nullopt;
    const auto* run = &schedule_.slots_.find(first.slot(position))->row;
    runs.in_order.push_back(run);
    (first.side(position) == Side::baseline ? runs.baseline : runs.candidate).push_back(run);
  }
  return runs;
}

BenchmarkSchedule::Step BenchmarkSchedule::evaluate_first_pair() const {
  auto whole = block(Stage::screen, 0);
  const auto pair = first_pair();
  if (!pair) {
    whole.runs = 2;
    return Step{whole, {}};
  }
  if (!may_be_enough(*pair)) return Step{whole, {}};
  Step step;
  for (const auto metric : metrics(*pair)) {
    const auto decision = detect::judge_alike(metric, pair->baseline.front()->values.at(metric),
                                              pair->candidate.front()->values.at(metric),
                                              schedule_.settings_.of({benchmark_, metric}));
    if (!decision) return Step{whole, {}};
    step.judged.push_back(judged_by(*decision, metric, *pair));
  }
  return step;
}

/// Whether both runs measured the same on one machine, and no other was made of their block.
bool BenchmarkSchedule::may_be_enough(const Runs& pair) const {
  const auto first = block(Stage::screen, 0);
  if (schedule_.slots_.is_begun(first.slot(2)) || schedule_.slots_.is_begun(first.slot(3))) {
    return false;
  }
  const auto& a = *pair.baseline.front();
  const auto& b = *pair.candidate.front();
  const bool are_ok = a.status == RunStatus::ok && b.status == RunStatus::ok;
  const bool have_same =
      std::ranges::equal(a.values | std::views::keys, b.values | std::views::keys);
  const bool have_outputs =
      !schedule_.plan_.outputs || a.values.contains(Metric::output_difference);
  const bool is_one_machine =
      schedule_.compares_settings_ || schedule_.slots_.find(first.slot(0))->machine ==
                                          schedule_.slots_.find(first.slot(1))->machine;
  return are_ok && have_same && have_outputs && is_one_machine;
}

JudgedSeries BenchmarkSchedule::judged_by(const detect::MemoryDecision& decision, Metric metric,
                                          const Runs& behind) const {
  auto result = judge_as(metric, decision.verdict, decision.reason, behind);
  // The values that the change is of: of four runs a side not the mean of the middle two.
  if (metric != Metric::output_difference) {
    result.verdict.baseline_value = static_cast<double>(decision.baseline_value);
    result.verdict.candidate_value = static_cast<double>(decision.candidate_value);
  }
  result.verdict.ratio = decision.ratio;
  result.verdict.interval_low = decision.low;
  result.verdict.interval_high = decision.high;
  return result;
}

BenchmarkSchedule::Step BenchmarkSchedule::evaluate_memory(const Runs& screen) const {
  Step step;
  const auto fresh = runs_of(Stage::confirm);
  const auto wanted = static_cast<std::size_t>(schedule_.settings_.common().memory_runs);
  const auto values_of = [](const Runs& runs, Metric metric) {
    return BothSides{.baseline = whole_values(runs.baseline, metric),
                     .candidate = whole_values(runs.candidate, metric)};
  };
  for (const auto metric : metrics(screen)) {
    const auto settings = schedule_.settings_.of({benchmark_, metric});
    const auto screened = values_of(screen, metric);
    const Series series{benchmark_, metric};
    auto decision = judge(series, screened, std::nullopt, settings);
    const Runs* behind = &screen;
    if (decision.suspect) {
      if (fresh.baseline.size() < wanted) return Step{block(Stage::confirm, fresh.blocks), {}};
      decision = judge(series, screened, values_of(fresh, metric), settings);
      behind = &fresh;
    }
    if (metric == Metric::output_difference) decision.reason += furthest_of(behind->candidate);
    step.judged.push_back(judged_by(decision, metric, *behind));
  }
  add_partly_measured(screen, step);
  return step;
}

}  // namespace torchwatch::comparison
