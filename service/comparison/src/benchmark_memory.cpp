// What memory, leaks and outputs of a benchmark say: a few runs of each build, without statistics.
#include <algorithm>
#include <ranges>

#include "benchmark_schedule.hpp"
#include "torchwatch/detect/memory_verdict.hpp"
#include "torchwatch/detect/output_verdict.hpp"

namespace torchwatch::comparison {
namespace {

using storage::RunRow;

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

/// Whether both runs measured the same things.
bool measured_alike(const RunRow& one, const RunRow& other, bool with_outputs) {
  const bool are_ok = one.status == RunStatus::ok && other.status == RunStatus::ok;
  const bool have_outputs = !with_outputs || one.values.contains(Metric::output_difference);
  return are_ok && have_outputs &&
         std::ranges::equal(one.values | std::views::keys, other.values | std::views::keys);
}

void state(const detect::MemoryDecision& decision, storage::VerdictRow& verdict) {
  // The values that the change is of: of four runs a side not the mean of the middle two.
  if (verdict.series.metric != Metric::output_difference) {
    verdict.baseline_value = static_cast<double>(decision.baseline_value);
    verdict.candidate_value = static_cast<double>(decision.candidate_value);
  }
  verdict.ratio = decision.ratio;
  verdict.interval_low = decision.low;
  verdict.interval_high = decision.high;
}

}  // namespace

std::vector<std::int64_t> whole_values(const std::vector<const RunRow*>& runs, Metric metric) {
  std::vector<std::int64_t> result;
  for (const auto* run : runs) {
    const auto found = run->values.find(metric);
    if (found != run->values.end()) result.push_back(found->second);
  }
  return result;
}

BenchmarkSchedule::Step BenchmarkSchedule::evaluate_first_pair() const {
  const auto whole = block(Stage::screen, 0);
  auto first = whole;
  first.runs = 2;
  const auto pair = runs_of(first);
  if (!pair) return Step{first, {}};
  const auto& slots = schedule_.slots_;
  const bool may_compare = schedule_.compares_settings_ ||
                           slots.find(whole.slot(0))->machine == slots.find(whole.slot(1))->machine;
  const auto& a = *pair->baseline.front();
  const auto& b = *pair->candidate.front();
  if (!may_compare || !measured_alike(a, b, schedule_.plan_.outputs)) return Step{whole, {}};
  Step step;
  for (const auto metric : metrics(*pair)) {
    const auto settings = schedule_.settings_.of({benchmark_, metric});
    const auto alike =
        detect::judge_alike(metric, a.values.at(metric), b.values.at(metric), settings);
    if (!alike) return Step{whole, {}};
    step.judged.push_back(judge_as(metric, alike->verdict, alike->reason, *pair));
    state(*alike, step.judged.back().verdict);
  }
  return step;
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
    step.judged.push_back(judge_as(metric, decision.verdict, decision.reason, *behind));
    state(decision, step.judged.back().verdict);
  }
  add_partly_measured(screen, step);
  return step;
}

}  // namespace torchwatch::comparison
