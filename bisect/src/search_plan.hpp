#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gates.hpp"
#include "hypotheses.hpp"
#include "search_record.hpp"

namespace torchwatch::bisect {

/// A search for one culprit that ended without it.
struct GivenUp {
  std::vector<std::size_t> suspects;
  double confidence = 0;
  std::string reason;
};

/// Decides what to do next. It remembers what the record does not say: the culprits accepted, the
/// classes rejected, the changes given up. All of it follows from the order of the events.
class SearchPlan {
 public:
  /// Draws the conclusions that the record allows now. To be called once after every event.
  Action decide(const SearchRecord&);

  /// What is found by now, as the answer of a search that a limit ends here; empty: none does.
  Answer answer(const SearchRecord&, std::string limit) const;

  /// Says what a probe is worth now; nothing for other measurements, and where no culprit is looked
  /// for.
  std::optional<ProbeReason> reason_of(const Measure&, const SearchRecord&) const;

  /// Returns the probability of each class to be the culprit now looked for, or of which the search
  /// was given up just now; zeros without one.
  std::vector<double> posterior(const SearchRecord&) const;

 private:
  using Key = std::pair<std::size_t, Span>;  ///< a series's change in a span

  /// Measures the rest beside found culprits, or sets `problem_` to the next change to search.
  std::optional<Measure> choose_problem(const SearchRecord&);
  /// One step towards the problem's culprit; none if the search of it has come to an end.
  std::optional<Measure> search(const SearchRecord&);
  /// Accepts or rejects a group whose verification is decided.
  void conclude(const SearchRecord&, const Group&);
  /// The next reading; gives up if none is left to make.
  std::optional<Measure> probe(const SearchRecord&, const std::vector<Group>&);
  /// The likeliest groups against their parents, where nothing else tells more.
  std::optional<Measure> compare_neighbours(const SearchRecord&, std::vector<Group>) const;
  /// Whether the group differs from its parent, by the problem's lead.
  EffectState verified(const SearchRecord&, const Group&) const;
  /// Runs alone that lead to a group which then does not differ have misled the search.
  void learn_trust(const SearchRecord&);
  void give_up(const SearchRecord&, std::string reason);

  std::vector<Span> segments(const SearchRecord&) const;
  bool has_rest(const SearchRecord&, std::size_t series) const;
  /// Whether a series was lost that may have a change without a culprit.
  bool has_lost_change(const SearchRecord&) const;
  std::vector<double> problem_posterior(const SearchRecord&) const;

  std::optional<Problem> problem_;
  std::vector<Group> found_;
  std::optional<Group> verifying_;   ///< as it was when its verification began
  double chance_of_rejections_ = 1;  ///< of all so far, had the posterior been right
  bool trusts_alone_ = true;
  std::map<Key, Penalties> penalties_;
  std::set<Key> closed_;
  std::vector<GivenUp> given_up_;
  std::vector<double> left_belief_;  ///< in the search that the last decision gave up; or empty
};

}  // namespace torchwatch::bisect
