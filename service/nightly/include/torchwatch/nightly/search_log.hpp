#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/bisect/culprit_search.hpp"
#include "torchwatch/storage/bisection_store.hpp"

namespace torchwatch::nightly {

/// What reverting a culprit on top of the bad end showed.
struct RevertCheck {
  std::size_t culprit = 0;  ///< its class
  bool applies = false;
  bool builds = false;
  std::map<std::size_t, double> effects;  ///< median, bad end against the reverted one, by target
  bool gone = false;                      ///< every change that the culprit made is taken away
  std::string reason;
};

/// The stored events of a search: the search's own, in order, and what goes with them for people
/// (commits, reasons, how the posterior moved).
class SearchLog {
 public:
  SearchLog(storage::Database& database, storage::Id bisection)
      : store_(database), bisection_(bisection) {}

  /// Reads all events. Errors: corrupt, of storage.
  Status load();

  const std::vector<bisect::SearchEvent>& events() const { return events_; }
  const std::vector<RevertCheck>& reverts() const { return reverts_; }
  int next_ordinal() const { return ordinal_; }
  /// Faults of the recipe in a row, at the end of the log.
  int faults_in_a_row() const { return faults_; }
  /// Why a class cannot be built.
  std::string reason_of(std::size_t candidate) const;

  /// Appends one event; `posterior` is the search's after it was applied.
  Status measured(const bisect::Measured&, bisect::Purpose, const std::vector<double>& posterior);
  Status measured_alone(const bisect::MeasuredAlone&, bisect::Purpose,
                        const std::vector<double>& posterior);
  Status level_lost(const std::string& reason);
  Status built(std::size_t candidate, const std::string& commit, const std::string& content_hash);
  Status unbuildable(std::size_t candidate, const std::string& commit, const std::string& reason,
                     bool fault);
  Status same_library(const bisect::SameLibrary&);
  Status target_lost(std::size_t target, const std::string& reason);
  Status reverted(const RevertCheck&);

 private:
  Status append(const std::string& kind, const std::string& body_json);
  Status take(const storage::BisectionEventRow&);

  storage::BisectionStore store_;
  storage::Id bisection_;
  std::vector<bisect::SearchEvent> events_;
  std::vector<RevertCheck> reverts_;
  std::map<std::size_t, std::string> reasons_;
  int ordinal_ = 0;
  int faults_ = 0;
};

}  // namespace torchwatch::nightly
