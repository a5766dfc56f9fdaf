#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "learned_spread.hpp"
#include "peer_rules.hpp"
#include "series_comparison.hpp"
#include "torchwatch/detect/settings.hpp"

namespace torchwatch::detect {
struct SeriesOutcome;
}  // namespace torchwatch::detect

namespace torchwatch::experiments {

/// The interval that is printed beside an estimate.
struct PrintedInterval {
  bool holds = false;         ///< contains the truth
  bool is_confirmed = false;  ///< from confirmation, not from screening
};

/// What a rule says of one comparison, and what that took.
struct Judgement {
  Flag flag = Flag::none;
  double runs = 0;                          ///< processes that the comparison measured for it
  std::optional<PrintedInterval> interval;  ///< of rules that print one
};

/// A rule as a service applies it comparison by comparison.
struct Rule {
  std::string name;
  /// The judgements on the judged comparison that are possible n comparisons after it; one
  /// for most, one a process for a rule that compares processes.
  std::function<std::vector<Judgement>(const SeriesComparison&, std::size_t comparisons_after,
                                       Random&)>
      judge;
  std::size_t first_after = 0;  ///< comparisons that pass before it can say anything
  bool looks_again = false;     ///< whether later comparisons show it the same change
};

/// What an outcome of ours says, and whether its interval holds the truth.
Judgement judgement_of(const detect::SeriesOutcome&, double slowdown);

/// Ours, then the peers. `processes` is how many a comparison has at least, for rules that wait for
/// values; above 0.
std::vector<Rule> detection_rules(const detect::Settings& settings, std::size_t processes,
                                  Learning learning = {});

}  // namespace torchwatch::experiments
