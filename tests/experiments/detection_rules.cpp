#include "detection_rules.hpp"

#include <algorithm>

#include "simulated_series.hpp"

namespace torchwatch::experiments {
namespace {

using Judgements = std::vector<Judgement>;
constexpr std::size_t kJudged = SeriesComparison::kJudged;

Flag flag_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::regressed:
      return Flag::slower;
    case Verdict::improved:
      return Flag::faster;
    case Verdict::unchanged:
      return Flag::none;
    default:
      return Flag::undecided;
  }
}

/// What is expected of the series after what was learnt of it.
detect::Settings settings_after(const Learning& learning, const SeriesComparison& comparison,
                                detect::Settings settings) {
  if (learning.comparisons == 0) return settings;
  const auto comparisons = pairs_before(comparison, learning.comparisons);
  settings.prior_pair_sd =
      std::max(learned_pair_sd(comparisons, settings.prior_pair_sd), learning.least);
  return settings;
}

/// The service's own: screening, then confirmation on fresh runs from elsewhere.
Judgements judge_ours(const detect::Settings& settings, const SeriesComparison& comparison,
                      Random& random) {
  RunsOfComparison screening(comparison, random);
  RunsElsewhere confirming(*comparison.series, comparison.compared(), random);
  const auto outcome = detect::judge_simulated_series(std::ref(screening), std::ref(confirming),
                                                      comparison.slowdown, settings);
  return {judgement_of(outcome, comparison.slowdown)};
}

/// One process against one, each of the comparison judged against its like of the comparison
/// before.
Judgements judge_torchbench(const SeriesComparison& comparison) {
  const auto& medians = comparison.series->medians_of_ten;
  const auto& before = medians[comparison.comparisons[kJudged - 1]];
  const auto& now = medians[comparison.comparisons[kJudged]];
  Judgements judgements;
  for (std::size_t process = 0; process < std::min(before.size(), now.size()); ++process) {
    const Flag flag = torchbench(before[process], now[process] * comparison.slowdown);
    judgements.push_back({flag, 1, {}});
  }
  return judgements;
}

/// The values of the `count` comparisons before a place, the newest first.
std::vector<double> history(const SeriesComparison& comparison, std::size_t place,
                            std::size_t count) {
  std::vector<double> values;
  for (std::size_t back = 1; back <= count; ++back)
    values.push_back(comparison.value(place - back));
  return values;
}

double processes_of(const SeriesComparison& comparison) {
  return static_cast<double>(
      comparison.series->comparisons[comparison.comparisons[kJudged]].size());
}

Judgements judge_rustc_perf(const SeriesComparison& comparison) {
  const Flag flag = rustc_perf(history(comparison, kJudged - 1, kRustcPerfHistory),
                               comparison.value(kJudged - 1), comparison.value(kJudged));
  return {{flag, processes_of(comparison), {}}};
}

Judgements judge_t_prediction(const SeriesComparison& comparison, std::size_t after) {
  const std::size_t place = kJudged + after;
  const Flag flag =
      t_prediction(history(comparison, place, kPredictionHistory), comparison.value(place));
  return {{flag, processes_of(comparison), {}}};
}

/// A push's values are the comparison's processes. A real change may be put to a neighbour; without
/// one only the comparison itself counts, so that no alarm is counted for several comparisons.
Judgements judge_perfherder(const SeriesComparison& comparison, std::size_t after) {
  std::vector<std::vector<double>> pushes;
  for (std::size_t place = 0; place <= kJudged + after; ++place) {
    pushes.push_back(comparison.series->comparisons[comparison.comparisons[place]]);
    for (double& value : pushes.back()) value *= comparison.factor(place);
  }
  const std::size_t tolerance = comparison.slowdown == 1 ? 0 : 2;
  const auto flags = perfherder(pushes);
  Judgement judgement{flags[kJudged], processes_of(comparison), {}};
  for (std::size_t place = kJudged - tolerance; place <= kJudged + std::min(tolerance, after);
       ++place) {
    if (judgement.flag == Flag::none) judgement.flag = flags[place];
  }
  return {judgement};
}

}  // namespace

Judgement judgement_of(const detect::SeriesOutcome& outcome, double slowdown) {
  const bool holds = outcome.estimate.low <= slowdown && slowdown <= outcome.estimate.high;
  return {flag_of(outcome.verdict), static_cast<double>(outcome.runs()),
          PrintedInterval{holds, outcome.was_suspected}};
}

std::vector<Rule> detection_rules(const detect::Settings& settings, std::size_t processes,
                                  Learning learning) {
  const std::size_t comparisons_of_fore_window =
      (kPerfherderForeWindow + processes - 1) / processes;
  return {
      {"torchwatch",
       [settings, learning](const SeriesComparison& comparison, std::size_t, Random& random) {
         return judge_ours(settings_after(learning, comparison, settings), comparison, random);
       }},
      {"TorchBench, 7 %, one against one", [](const SeriesComparison& comparison, std::size_t,
                                              Random&) { return judge_torchbench(comparison); }},
      {"rustc-perf, Q3 + 3 IQR", [](const SeriesComparison& comparison, std::size_t,
                                    Random&) { return judge_rustc_perf(comparison); }},
      {"t prediction, 1 % a side",
       [](const SeriesComparison& comparison, std::size_t after, Random&) {
         return judge_t_prediction(comparison, after);
       },
       0, true},
      {"Perfherder, t > 7",
       [](const SeriesComparison& comparison, std::size_t after, Random&) {
         return judge_perfherder(comparison, after);
       },
       comparisons_of_fore_window - 1, true},
  };
}

}  // namespace torchwatch::experiments
