#include "torchwatch/detect/series_judgement.hpp"

namespace torchwatch::detect {

SeriesOutcome judge_series(const MorePairs& screening, const MorePairs& confirming,
                           const Settings& settings) {
  SeriesOutcome outcome;
  std::vector<double> screened;
  ScreenDecision first = screen(screened, settings);
  while (first.step == ScreenStep::measure_more) {
    screening(screened, first.pairs_next);
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
    confirming(fresh, second.pairs_next);
    second = confirm(fresh, settings);
  }
  outcome.confirm_pairs = static_cast<int>(fresh.size());
  outcome.verdict = second.verdict;
  outcome.estimate = second.estimate;
  return outcome;
}

}  // namespace torchwatch::detect
