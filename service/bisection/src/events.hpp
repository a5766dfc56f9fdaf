#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "torchwatch/bisect/culprit_search.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::bisection {

// The events of a bisection as they are stored: those of its search, with what goes with them for
// people (commits, reasons, how the posterior moved), and the reverts that were tried.

/// In which commits the culprit is looked for first.
struct CommitsWeighed {
  static constexpr auto kKind = EventKind::weighed;
  std::vector<double> weights;  ///< by class
  std::string reason;
};

struct PairsMeasured {
  static constexpr auto kKind = EventKind::measured;
  bisect::Measured readings;
  bisect::Purpose purpose = bisect::Purpose::probe;
  std::vector<double> posterior;  ///< of the search once the event is applied
};

/// Runs of one class without a partner.
struct RunsMeasured {
  static constexpr auto kKind = EventKind::measured_alone;
  bisect::MeasuredAlone readings;
  bisect::Purpose purpose = bisect::Purpose::probe;
  std::vector<double> posterior;
};

struct CommitBuilt {
  static constexpr auto kKind = EventKind::built;
  bisect::Reference candidate;  ///< none: the good end
  std::string commit;
  std::string content_hash;
  std::string origin;    ///< the address of who made it; empty: the recipe did
  bool at_hand = false;  ///< before the search began, which may never read it
};

struct CommitUnbuildable {
  static constexpr auto kKind = EventKind::unbuildable;
  std::size_t candidate = 0;
  std::string commit;
  std::string reason;
  bool fault = false;  ///< the recipe's, not the commit's
};

/// A build counts no longer, so that no step between makers is taken for one of a commit.
struct BuildSetAside {
  static constexpr auto kKind = EventKind::set_aside;
  bisect::Reference side;
  bisect::Reference beside;   ///< what it cannot be compared with; itself: it was made anew
  bool recipe_alone = false;  ///< from now on nothing counts that somebody else has made
};

struct SeriesDropped {
  static constexpr auto kKind = EventKind::series_lost;
  std::size_t series = 0;
  std::string reason;
  std::optional<std::size_t> candidate = {};  ///< at this class alone; none: in the whole search
};

/// The machine has changed, so a run alone has nothing left to be compared with.
struct MachineChanged {
  static constexpr auto kKind = EventKind::level_lost;
  std::string reason;
};

/// What reverting a culprit on top of the bad end showed.
struct RevertCheck {
  static constexpr auto kKind = EventKind::reverted;
  std::size_t culprit = 0;  ///< its class
  bool applies = false;
  bool builds = false;
  std::map<std::size_t, double> effects;  ///< centre, bad end against the reverted one, by series
  bool gone = false;   ///< every change that the culprit made is taken away; else, with effects
                       ///< and without a reason, one is not
  std::string reason;  ///< why it could not be tried, or with effects does not tell
};

using BisectionEvent =
    std::variant<CommitsWeighed, PairsMeasured, RunsMeasured, CommitBuilt, CommitUnbuildable,
                 BuildSetAside, bisect::SameLibrary, SeriesDropped, MachineChanged, RevertCheck>;

EventKind kind_of(const BisectionEvent&);

storage::BisectionEventRow row_of(const BisectionEvent&, int ordinal);

/// Errors: corrupt, naming the event's ordinal.
Result<BisectionEvent> parse_event(const storage::BisectionEventRow&);

/// Returns what the search has to know of the event; nothing for a revert and the good end's build.
std::optional<bisect::SearchEvent> search_event_of(const BisectionEvent&);

}  // namespace torchwatch::bisection
