#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events.hpp"
#include "torchwatch/bisect/culprit_search.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/report/bisection_text.hpp"

namespace torchwatch::bisection {

/// A search that is followed through its stored events to say why each of its steps was the next.
/// Where it cannot be followed any more (events of older rules that lead elsewhere), it says
/// nothing from there on, as what it would say is not what was reckoned then.
class FollowedSearch {
 public:
  FollowedSearch(const BisectionSpec&, const std::vector<BisectionEvent>&);

  /// Says why the event is the next one; nothing for what only follows from another one.
  std::optional<report::StepReason> why(const BisectionEvent&) const;
  void apply(const BisectionEvent&);

  /// Null where it cannot be followed any more.
  const bisect::CulpritSearch* search() const { return search_ ? &*search_ : nullptr; }
  std::optional<report::StepReason> why(const bisect::Measure&) const;
  /// Names a side by its commit; empty for a class that no event names.
  std::string name_of(const bisect::Reference&) const;
  std::size_t class_count() const { return commits_.size(); }

 private:
  std::string good_;
  std::vector<bisect::Commit> commits_;  ///< by class
  std::optional<bisect::CulpritSearch> search_;
};

}  // namespace torchwatch::bisection
