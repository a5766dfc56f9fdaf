#include "night_of_one_series.hpp"

#include <vector>

namespace torchwatch::detect {
namespace {

/// Measures whole blocks until there are so many pairs.
void measure(const NextRun& next, double slowdown, int pairs, std::vector<double>& log_ratios) {
  while (static_cast<int>(log_ratios.size()) < pairs) {
    std::vector<double> block;
    for (const double factor : {1.0, slowdown, slowdown, 1.0}) block.push_back(next() * factor);
    for (const double ratio : abba_log_ratios(block)) log_ratios.push_back(ratio);
  }
}

}  // namespace

NightOutcome judge_one_series(const NextRun& screening, const NextRun& confirming, double slowdown,
                              const Settings& settings) {
  NightOutcome outcome;
  std::vector<double> screened;
  ScreenDecision first = screen(screened, settings);
  while (first.step == ScreenStep::measure_more) {
    measure(screening, slowdown, first.pairs_next, screened);
    first = screen(screened, settings);
  }
  outcome.screen_pairs = static_cast<int>(screened.size());
  outcome.estimate = first.estimate;
  if (first.step == ScreenStep::unchanged) outcome.verdict = Verdict::unchanged;
  if (first.step != ScreenStep::suspect) return outcome;

  outcome.was_suspected = true;
  std::vector<double> fresh;
  ConfirmDecision second = confirm(fresh, settings);
  while (second.measure_more) {
    measure(confirming, slowdown, second.pairs_next, fresh);
    second = confirm(fresh, settings);
  }
  outcome.confirm_pairs = static_cast<int>(fresh.size());
  outcome.verdict = second.verdict;
  outcome.estimate = second.estimate;
  return outcome;
}

}  // namespace torchwatch::detect
