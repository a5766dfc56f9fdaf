#include "search_score.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "torchwatch/detect/binomial_interval.hpp"

namespace torchwatch::experiments {
namespace {

using Set = std::vector<std::size_t>;

bool holds(const Set& set, std::size_t commit) {
  return std::find(set.begin(), set.end(), commit) != set.end();
}

bool holds_culprit(const Set& set, const Day& day) {
  return std::any_of(day.steps.begin(), day.steps.end(),
                     [&](const auto& step) { return holds(set, step.first); });
}

bool is_precise(const Set& set, const Day& day) {
  return std::any_of(day.steps.begin(), day.steps.end(),
                     [&](const auto& step) { return set == smallest_set(day, step.first); });
}

template <typename Value>
double mean(const std::vector<Value>& values) {
  return static_cast<double>(std::accumulate(values.begin(), values.end(), Value{})) /
         static_cast<double>(values.size());
}

struct Mean {
  double mean = 0;
  double low = 0;
  double high = 0;
};

/// The mean with its 95 % interval, for as many days as make it normal.
Mean interval_of_mean(const std::vector<int>& values) {
  constexpr double kTwoSided95 = 1.96;
  const double centre = mean(values);
  double squares = 0;
  for (const int value : values) squares += (value - centre) * (value - centre);
  const auto count = static_cast<double>(values.size());
  const double half = kTwoSided95 * std::sqrt(squares / count / count);
  return {centre, centre - half, centre + half};
}

template <typename Value>
Value at_95(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 95 / 100];
}

/// "99.2 (98.7-99.5)": per cent with the 95 % interval.
std::string text(const Count& count) {
  if (count.of == 0) return "-";
  const auto share = detect::share_of(count.hits, count.of);
  char text[64];
  std::snprintf(text, sizeof text, "%.1f (%.1f-%.1f)", 100 * share.rate, 100 * share.low,
                100 * share.high);
  return text;
}

nlohmann::json json(const Count& count) {
  if (count.of == 0) return nullptr;
  const auto share = detect::share_of(count.hits, count.of);
  return {{"hits", count.hits},
          {"of", count.of},
          {"rate", share.rate},
          {"low", share.low},
          {"high", share.high}};
}

template <typename Value>
nlohmann::json json(const std::vector<Value>& values) {
  return {{"mean", mean(values)},
          {"p95", at_95(values)},
          {"max", *std::max_element(values.begin(), values.end())}};
}

}  // namespace

void SearchScore::count(const Day& day, const DayResult& result) {
  const auto& blamed = result.blamed;
  const bool any = !blamed.empty();
  const bool all = std::all_of(day.steps.begin(), day.steps.end(), [&](const auto& step) {
    return std::any_of(blamed.begin(), blamed.end(),
                       [&](const Set& set) { return holds(set, step.first); });
  });
  const bool innocent = std::any_of(blamed.begin(), blamed.end(),
                                    [&](const Set& set) { return !holds_culprit(set, day); });
  const bool precise = std::all_of(blamed.begin(), blamed.end(),
                                   [&](const Set& set) { return is_precise(set, day); });
  const bool is_exact = any && !innocent && all && precise;
  exact.add(is_exact);
  contains.add(any && !innocent && !is_exact);
  wrong.add(innocent);
  none.add(!any);
  all_found.add(any && all);
  for (const auto& claim : result.claims) {
    (claim.verified ? verified_right : believed_right).add(holds_culprit(claim.commits, day));
  }
  builds.push_back(result.builds);
  rounds.push_back(result.rounds);
  runs.push_back(result.runs);
  cpu_ms.push_back(result.cpu_ms);
}

double mean_hours(const SearchScore& score, const Waits& waits) {
  return (mean(score.rounds) * waits.build_minutes + mean(score.runs) * waits.run_seconds / 60) /
         60;
}

std::string table_head() {
  return "| day | search | exact | contains | wrong blame | no answer | all found | 0.99 and "
         "verified: right | 0.99 alone: right | builds | rounds | runs | runs, 95 % | hours | "
         "CPU ms, longest |\n|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|\n";
}

std::string table_row(const std::string& day, const std::string& method, const SearchScore& score,
                      const Waits& waits) {
  std::string row = "| " + day + " | " + method;
  for (const Count* share : {&score.exact, &score.contains, &score.wrong, &score.none,
                             &score.all_found, &score.verified_right, &score.believed_right}) {
    row += " | " + text(*share);
  }
  const auto runs = interval_of_mean(score.runs);
  char costs[128];
  std::snprintf(costs, sizeof costs, " | %.1f | %.1f | %.1f (%.1f-%.1f) | %d | %.2f | %.1f |\n",
                mean(score.builds), mean(score.rounds), runs.mean, runs.low, runs.high,
                at_95(score.runs), mean_hours(score, waits),
                *std::max_element(score.cpu_ms.begin(), score.cpu_ms.end()));
  return row + costs;
}

nlohmann::json json_row(const std::string& day, const std::string& method, const SearchScore& score,
                        const Waits& waits) {
  return {{"day", day},
          {"search", method},
          {"exact", json(score.exact)},
          {"contains", json(score.contains)},
          {"wrong_blame", json(score.wrong)},
          {"no_answer", json(score.none)},
          {"all_found", json(score.all_found)},
          {"right_when_verified", json(score.verified_right)},
          {"right_when_believed", json(score.believed_right)},
          {"builds", json(score.builds)},
          {"rounds", json(score.rounds)},
          {"runs", json(score.runs)},
          {"hours", mean_hours(score, waits)},
          {"search_cpu_ms", json(score.cpu_ms)}};
}

}  // namespace torchwatch::experiments
