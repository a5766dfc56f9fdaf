#include "detection_rules.hpp"

#include <algorithm>

#include "night_of_one_series.hpp"

namespace torchwatch::benchmarks {
namespace {

using Judgements = std::vector<Judgement>;
constexpr std::size_t kJudged = SeriesNight::kJudged;

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
detect::Settings settings_after(const Learning& learning, const SeriesNight& night,
                                detect::Settings settings) {
  if (learning.nights == 0) return settings;
  const auto nights = pairs_before(night, learning.nights);
  settings.prior_pair_sd =
      std::max(learned_pair_sd(nights, settings.prior_pair_sd), learning.least);
  return settings;
}

/// The service's own: screening, then confirmation on fresh runs from elsewhere.
Judgements judge_ours(const detect::Settings& settings, const SeriesNight& night, Random& random) {
  RunsOfNight screening(night, random);
  RunsElsewhere confirming(*night.series, night.compared(), random);
  const auto outcome =
      detect::judge_one_series(std::ref(screening), std::ref(confirming), night.slowdown, settings);
  const auto& estimate = outcome.estimate;
  const bool holds = estimate.low <= night.slowdown && night.slowdown <= estimate.high;
  const PrintedInterval interval{holds, outcome.was_suspected};
  return {{flag_of(outcome.verdict), static_cast<double>(outcome.runs()), interval}};
}

/// One process against one, each of the night judged against its like of the night before.
Judgements judge_torchbench(const SeriesNight& night) {
  const auto& medians = night.series->medians_of_ten;
  const auto& before = medians[night.nights[kJudged - 1]];
  const auto& now = medians[night.nights[kJudged]];
  Judgements judgements;
  for (std::size_t process = 0; process < std::min(before.size(), now.size()); ++process) {
    const Flag flag = torchbench(before[process], now[process] * night.slowdown);
    judgements.push_back({flag, 1, {}});
  }
  return judgements;
}

/// The values of so many nights before a place, the newest first.
std::vector<double> history(const SeriesNight& night, std::size_t place, std::size_t count) {
  std::vector<double> values;
  for (std::size_t back = 1; back <= count; ++back) values.push_back(night.value(place - back));
  return values;
}

double processes_of(const SeriesNight& night) {
  return static_cast<double>(night.series->nights[night.nights[kJudged]].size());
}

Judgements judge_rustc_perf(const SeriesNight& night) {
  const Flag flag = rustc_perf(history(night, kJudged - 1, kRustcPerfHistory),
                               night.value(kJudged - 1), night.value(kJudged));
  return {{flag, processes_of(night), {}}};
}

Judgements judge_t_prediction(const SeriesNight& night, std::size_t after) {
  const std::size_t place = kJudged + after;
  const Flag flag = t_prediction(history(night, place, kPredictionHistory), night.value(place));
  return {{flag, processes_of(night), {}}};
}

/// A push's values are the night's processes. A real change may be put to a neighbour; without one
/// only the night itself counts, so that no alarm is counted for several nights.
Judgements judge_perfherder(const SeriesNight& night, std::size_t after) {
  std::vector<std::vector<double>> pushes;
  for (std::size_t place = 0; place <= kJudged + after; ++place) {
    pushes.push_back(night.series->nights[night.nights[place]]);
    for (double& value : pushes.back()) value *= night.factor(place);
  }
  const std::size_t tolerance = night.slowdown == 1 ? 0 : 2;
  const auto flags = perfherder(pushes);
  Judgement judgement{flags[kJudged], processes_of(night), {}};
  for (std::size_t place = kJudged - tolerance; place <= kJudged + std::min(tolerance, after);
       ++place) {
    if (judgement.flag == Flag::none) judgement.flag = flags[place];
  }
  return {judgement};
}

}  // namespace

std::vector<Rule> detection_rules(const detect::Settings& settings, std::size_t processes,
                                  Learning learning) {
  const std::size_t nights_of_fore_window = (kPerfherderForeWindow + processes - 1) / processes;
  return {
      {"torchwatch",
       [settings, learning](const SeriesNight& night, std::size_t, Random& random) {
         return judge_ours(settings_after(learning, night, settings), night, random);
       }},
      {"TorchBench, 7 %, one against one",
       [](const SeriesNight& night, std::size_t, Random&) { return judge_torchbench(night); }},
      {"rustc-perf, Q3 + 3 IQR",
       [](const SeriesNight& night, std::size_t, Random&) { return judge_rustc_perf(night); }},
      {"t prediction, 1 % a side",
       [](const SeriesNight& night, std::size_t after, Random&) {
         return judge_t_prediction(night, after);
       },
       0, true},
      {"Perfherder, t > 7",
       [](const SeriesNight& night, std::size_t after, Random&) {
         return judge_perfherder(night, after);
       },
       nights_of_fore_window - 1, true},
  };
}

}  // namespace torchwatch::benchmarks
