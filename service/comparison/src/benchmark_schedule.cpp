#include "benchmark_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "torchwatch/comparison/run_recorder.hpp"
#include "torchwatch/detect/time_verdict.hpp"
#include "torchwatch/records/machine_facts.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::comparison {
namespace {

using storage::RunRow;

std::vector<double> values(const std::vector<const RunRow*>& runs, Metric metric) {
  const auto whole = whole_values(runs, metric);
  return {whole.begin(), whole.end()};
}

/// What the reader calls the sides: settings of a study are A and B.
struct SideWords {
  std::string baseline;
  std::string candidate;
};

SideWords words_of_sides(bool compares_settings) {
  if (compares_settings) return {"A", "B"};
  return {"the baseline", "the candidate"};
}

int count(const std::vector<const RunRow*>& runs, RunStatus status) {
  return static_cast<int>(
      std::ranges::count_if(runs, [&](const RunRow* run) { return run->status == status; }));
}

std::string first_reason(const std::vector<const RunRow*>& runs) {
  for (const auto* run : runs) {
    if (run->status != RunStatus::ok) return run->reason;
  }
  return {};
}

/// Why a run that was measured states no outputs; empty: all that should do.
std::string no_outputs_reason(const std::vector<const RunRow*>& runs) {
  for (const auto* run : runs) {
    if (run->status != RunStatus::ok || run->values.contains(Metric::output_difference)) continue;
    if (!run->reason.empty()) return run->reason;
  }
  return {};
}

/// The decision after screening, in the terms of the one on fresh pairs.
detect::ConfirmDecision decision_of(const detect::ScreenDecision& screened) {
  using enum detect::ScreenStep;
  detect::ConfirmDecision decision;
  decision.measure_more = screened.step == measure_more;
  decision.verdict = screened.step == unchanged ? Verdict::unchanged : Verdict::inconclusive;
  decision.estimate = screened.estimate;
  decision.reason = screened.reason;
  return decision;
}

}  // namespace

std::optional<Block> BenchmarkSchedule::next() const {
  return evaluate().next;
}

std::vector<JudgedSeries> BenchmarkSchedule::judged() const {
  return evaluate().judged;
}

std::optional<BenchmarkSchedule::Runs> BenchmarkSchedule::runs_of(const Block& block) const {
  Runs runs;
  for (int position = 0; position < block.runs; ++position) {
    if (!schedule_.slots_.is_closed(block.slot(position))) return std::nullopt;
    const auto* run = &schedule_.slots_.find(block.slot(position))->row;
    runs.in_order.push_back(run);
    (block.side(position) == Side::baseline ? runs.baseline : runs.candidate).push_back(run);
  }
  runs.blocks = 1;
  return runs;
}

BenchmarkSchedule::Runs BenchmarkSchedule::runs_of(Stage stage) const {
  Runs runs;
  while (const auto next = runs_of(block(stage, runs.blocks))) {
    runs.in_order.insert(runs.in_order.end(), next->in_order.begin(), next->in_order.end());
    runs.baseline.insert(runs.baseline.end(), next->baseline.begin(), next->baseline.end());
    runs.candidate.insert(runs.candidate.end(), next->candidate.begin(), next->candidate.end());
    ++runs.blocks;
  }
  return runs;
}

BenchmarkSchedule::Step BenchmarkSchedule::evaluate() const {
  const auto screen = runs_of(Stage::screen);
  if (screen.blocks == 0) {
    return pass_ == Pass::memory ? evaluate_first_pair() : Step{block(Stage::screen, 0), {}};
  }
  if (auto end = ended_early(screen)) return *end;
  return pass_ == Pass::timing ? evaluate_timing(screen) : evaluate_memory(screen);
}

/// Ends the benchmark whatever its values are: runs failed, or the machine changed.
std::optional<BenchmarkSchedule::Step> BenchmarkSchedule::ended_early(const Runs& screen) const {
  if (auto end = failed(screen)) return end;
  const auto confirm = runs_of(Stage::confirm);
  if (auto end = failed(confirm)) return end;
  if (const auto change = machine_change()) {
    return all_metrics(Verdict::inconclusive, *change, screen, false);
  }
  return std::nullopt;
}

std::optional<BenchmarkSchedule::Step> BenchmarkSchedule::failed(const Runs& runs) const {
  const int total = static_cast<int>(runs.baseline.size());
  if (total == 0) return std::nullopt;
  const int baseline_ok = count(runs.baseline, RunStatus::ok);
  const int candidate_ok = count(runs.candidate, RunStatus::ok);
  if (baseline_ok == total && candidate_ok == total) return std::nullopt;

  const auto& worse = candidate_ok < total ? runs.candidate : runs.baseline;
  const bool unsupported =
      count(worse, RunStatus::unsupported) > 0 && count(worse, RunStatus::failed) == 0;
  const auto verdict = unsupported ? Verdict::unsupported : Verdict::failed;
  const auto reason = first_reason(worse);
  const auto with = words_of_sides(schedule_.compares_settings_);
  if (baseline_ok == 0 && candidate_ok == 0) return all_metrics(verdict, reason, runs, false);
  // One that is called no more, or anew, has no ratio and is not lost: work may have another name.
  const bool is_renamed = unsupported && is_of_operator(benchmark_);
  if (is_renamed) return all_metrics(verdict, "not called with each build: " + reason, runs, false);
  if (candidate_ok == 0 && baseline_ok == total) {
    return all_metrics(
        verdict, "runs with " + with.baseline + " and not with " + with.candidate + ": " + reason,
        runs, true);
  }
  if (candidate_ok == total && baseline_ok == 0) {
    // What a setting cannot be applied to failed nothing.
    if (unsupported && schedule_.compares_settings_) {
      return all_metrics(verdict, "not supported with " + with.baseline + ": " + reason, runs,
                         false);
    }
    return all_metrics(Verdict::failed, "runs again; failed with " + with.baseline + ": " + reason,
                       runs, false);
  }
  return all_metrics(Verdict::inconclusive,
                     "failed in some runs only (" + std::to_string(total - baseline_ok) + " of " +
                         std::to_string(total) + " with " + with.baseline + ", " +
                         std::to_string(total - candidate_ok) + " with " + with.candidate +
                         "): " + reason,
                     runs, false);
}

std::optional<std::string> BenchmarkSchedule::machine_change() const {
  std::array<const std::string*, 2> firsts{};
  for (const auto stage : {Stage::screen, Stage::confirm}) {
    const auto runs = runs_of(stage);
    for (int i = 0; i < runs.blocks * Block::kRuns; ++i) {
      const auto in = block(stage, i / Block::kRuns);
      const bool is_other = in.side(i % Block::kRuns) == Side::candidate;
      const auto& machine = schedule_.slots_.find(in.slot(i % Block::kRuns))->machine;
      auto*& first = firsts[schedule_.compares_settings_ && is_other ? 1 : 0];
      if (first == nullptr) first = &machine;
      if (machine != *first) {
        return "the environment changed between runs: " + first_difference(*first, machine);
      }
    }
  }
  return std::nullopt;
}

bool BenchmarkSchedule::is_judged_here(Metric metric) const {
  return is_judged(metric) && pass_of(metric) == pass_;
}

std::vector<Metric> BenchmarkSchedule::metrics(const Runs& runs) const {
  std::vector<Metric> result;
  if (runs.in_order.empty()) return result;
  for (const auto& [metric, value] : runs.in_order.front()->values) {
    const bool in_all = std::ranges::all_of(
        runs.in_order, [&](const RunRow* run) { return run->values.contains(metric); });
    if (in_all && is_judged_here(metric)) result.push_back(metric);
  }
  return result;
}

/// Adds the metrics that only some runs have. A metric that the candidate no longer has is lost;
/// one that only the candidate has gets no verdict yet. Outputs that could not be computed say why.
void BenchmarkSchedule::add_partly_measured(const Runs& runs, Step& step) const {
  std::set<Metric> partly;
  for (const auto* run : runs.in_order) {
    for (const auto& [metric, value] : run->values) {
      if (is_judged_here(metric)) partly.insert(metric);
    }
  }
  for (const auto metric : metrics(runs)) partly.erase(metric);
  if (auto reason = no_outputs_reason(runs.in_order); !reason.empty()) {
    partly.erase(Metric::output_difference);
    step.judged.push_back(
        judge_as(Metric::output_difference, Verdict::inconclusive, std::move(reason), runs));
  }
  const auto with = words_of_sides(schedule_.compares_settings_);
  for (const auto metric : partly) {
    const bool in_baseline = values(runs.baseline, metric).size() == runs.baseline.size();
    const auto in_candidate = values(runs.candidate, metric).size();
    if (values(runs.baseline, metric).empty()) continue;
    // Outputs have no value either where no run of the baseline came before.
    const bool lost = in_baseline && in_candidate == 0 && metric != Metric::output_difference;
    step.judged.push_back(
        judge_as(metric, lost ? Verdict::failed : Verdict::inconclusive,
                 lost ? "measured with " + with.baseline + ", not with " + with.candidate
                      : "measured in some runs only",
                 runs));
    step.judged.back().lost = lost;
  }
}

std::vector<double> BenchmarkSchedule::pair_log_ratios(Stage stage, const Runs& runs,
                                                       Metric metric) const {
  std::vector<double> result;
  for (int index = 0; index < runs.blocks; ++index) {
    std::array<double, Block::kRuns> block_values{};
    for (int position = 0; position < Block::kRuns; ++position) {
      const auto* run = runs.in_order[static_cast<std::size_t>(index * Block::kRuns + position)];
      block_values[static_cast<std::size_t>(position)] =
          static_cast<double>(run->values.at(metric));
    }
    for (const double ratio : log_ratios(block(stage, index), block_values)) {
      result.push_back(ratio);
    }
  }
  return result;
}

JudgedSeries BenchmarkSchedule::judge_as(Metric metric, Verdict verdict, std::string reason,
                                         const Runs& runs) const {
  JudgedSeries result;
  result.verdict.series = Series{benchmark_, metric};
  result.verdict.verdict = verdict;
  result.verdict.reason = std::move(reason);
  result.verdict.runs = static_cast<int>(runs.in_order.size());
  const auto a = values(runs.baseline, metric);
  const auto b = values(runs.candidate, metric);
  if (!a.empty()) result.verdict.baseline_value = median(a);
  if (!b.empty()) result.verdict.candidate_value = median(b);
  result.verdict.baseline_spread = relative_spread(a);
  result.verdict.candidate_spread = relative_spread(b);
  return result;
}

BenchmarkSchedule::Step BenchmarkSchedule::all_metrics(Verdict verdict, const std::string& reason,
                                                       const Runs& runs, bool lost) const {
  Step step;
  auto found = metrics(runs);
  // Nothing was stated: the verdict is of the first metric that would have been.
  if (found.empty()) found = {metrics_of(schedule_.plan_, benchmark_, pass_).front()};
  for (const auto metric : found) {
    step.judged.push_back(judge_as(metric, verdict, reason, runs));
    step.judged.back().lost = lost;
  }
  return step;
}

/// Bounds what is left of an earlier change where that is asked of the series and it is unchanged.
void BenchmarkSchedule::bound_rest(const Series& series, std::span<const double> pairs,
                                   const detect::Settings& settings,
                                   detect::ConfirmDecision& decision) const {
  const auto most = schedule_.rests_.find(series);
  if (decision.measure_more || decision.verdict != Verdict::unchanged) return;
  if (most == schedule_.rests_.end()) return;
  auto rest = detect::bound_rest(pairs, decision.estimate, most->second, settings);
  decision.measure_more = rest.measure_more;
  decision.estimate = rest.estimate;
  decision.reason = std::move(rest.reason);
}

BenchmarkSchedule::Step BenchmarkSchedule::evaluate_timing(const Runs& screen) const {
  Step step;
  const auto fresh = runs_of(Stage::confirm);
  for (const auto metric : metrics(screen)) {
    const Series series{benchmark_, metric};
    const auto settings = schedule_.settings_.of(series);
    auto pairs = pair_log_ratios(Stage::screen, screen, metric);
    const auto screened = detect::screen(pairs, settings);
    auto decision = decision_of(screened);
    auto stage = Stage::screen;
    if (screened.step == detect::ScreenStep::suspect) {
      stage = Stage::confirm;
      pairs = pair_log_ratios(stage, fresh, metric);
      decision = detect::confirm(pairs, settings);
    }
    bound_rest(series, pairs, settings, decision);
    const Runs& behind = stage == Stage::screen ? screen : fresh;
    if (decision.measure_more) return Step{block(stage, behind.blocks), {}};
    auto result = judge_as(metric, decision.verdict, decision.reason, behind);
    const auto& estimate = decision.estimate;
    result.verdict.ratio = estimate.ratio;
    result.verdict.interval_low = estimate.low;
    result.verdict.interval_high = std::isfinite(estimate.high) ? estimate.high : 0;
    result.verdict.pair_spread = estimate.pair_sd;
    step.judged.push_back(std::move(result));
  }
  add_partly_measured(screen, step);
  return step;
}

}  // namespace torchwatch::comparison
