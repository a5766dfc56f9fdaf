#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "learned_spread.hpp"
#include "peer_rules.hpp"
#include "series_night.hpp"
#include "torchwatch/detect/settings.hpp"

namespace torchwatch::benchmarks {

/// The interval that is printed beside an estimate.
struct PrintedInterval {
  bool holds = false;         ///< contains the truth
  bool is_confirmed = false;  ///< from confirmation, not from screening
};

/// What a rule says of one night, and what that took.
struct Judgement {
  Flag flag = Flag::none;
  double runs = 0;                          ///< processes that the night measured for it
  std::optional<PrintedInterval> interval;  ///< of rules that print one
};

/// A rule as a service applies it night by night.
struct Rule {
  std::string name;
  /// The judgements on the judged night that are possible so many nights after it; one for most,
  /// one a process for a rule that compares processes.
  std::function<std::vector<Judgement>(const SeriesNight&, std::size_t nights_after, Random&)>
      judge;
  std::size_t first_after = 0;  ///< nights that pass before it can say anything
  bool looks_again = false;     ///< whether later nights show it the same change
};

/// Ours, then the peers. `processes` is how many a night has at least, for rules that wait for
/// values; above 0.
std::vector<Rule> detection_rules(const detect::Settings& settings, std::size_t processes,
                                  Learning learning = {});

}  // namespace torchwatch::benchmarks
