#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events.hpp"
#include "torchwatch/bisect/candidate_commits.hpp"
#include "torchwatch/bisect/culprit_search.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/builds/commit_builder.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/bisection_store.hpp"

namespace torchwatch::bisection {

/// What the search knows of each series before it is measured.
std::vector<bisect::SearchSeries> series_of(const BisectionSpec&);

/// The search of a bisection with that number of classes, before anything has happened. Errors:
/// invalid.
Result<bisect::CulpritSearch> search_of(const BisectionSpec&, std::size_t classes);

/// The commits of the classes that events name, in the place of their classes; the others are
/// empty. There are as many classes as any event says.
std::vector<bisect::Commit> commits_named_by(const std::vector<BisectionEvent>&);

/// An address without the commit: builds from one place are made alike.
std::string place_in(std::string origin, const std::string& sha);

/// The search of one bisection, with its commits and its stored events. Whatever happens is applied
/// to the search and stored in one call, so that replaying the events gives the same search.
class RecordedSearch {
 public:
  /// Reads the range from git and replays the stored events. Errors: invalid and not_found (the
  /// range cannot be searched); corrupt; of storage.
  static Result<RecordedSearch> open(comparison::Services&, storage::Id bisection,
                                     const BisectionSpec&);

  /// Replays the stored events without the repository: only commits that an event names have a
  /// name, and how many there are in the range is not known. Errors: corrupt; of storage.
  static Result<RecordedSearch> from_events(storage::Database&, storage::Id bisection,
                                            const BisectionSpec&);

  const bisect::CulpritSearch& search() const { return search_; }
  /// What the search has verified by now, as its answer for that reason.
  Result<bisect::Answer> answer_now(const BisectionSpec&, std::string reason) const;
  /// Applies the event and stores it; a measurement is stored with the posterior after it.
  Status record(BisectionEvent);

  /// Who made the build of a side that counts now: an address, or an empty text for the recipe.
  /// Nothing: no build of it counts.
  std::optional<std::string> origin_of(bisect::Reference side) const;
  /// Who may make a side's build: one whose earlier build was the recipe's, or was set aside, is
  /// not taken from elsewhere again.
  builds::Maker maker_of(bisect::Reference side) const;
  /// Which builds are to be set aside before the two are compared, as different origins alone may
  /// make a step; empty if both have one origin. The second time it is all that was made elsewhere.
  std::vector<BuildSetAside> unlike(bisect::Reference side, bisect::Reference beside) const;
  /// How many of the builds between the ends somebody else has made.
  int made_elsewhere() const;
  /// Whether that is recorded of the builds that count now.
  bool has(const bisect::SameLibrary&) const;
  const RevertCheck* revert_of(std::size_t candidate) const;
  /// Says why a class cannot be built.
  std::string reason_of(std::size_t candidate) const;
  int next_ordinal() const { return next_ordinal_; }

  std::size_t class_count() const { return folded_.classes.size(); }
  bool is_bad_end(std::size_t candidate) const { return candidate + 1 == class_count(); }
  const std::string& commit_of(std::size_t candidate) const;
  /// Names the commit of a class, or of the good end.
  std::string sha_of(bisect::Reference) const;
  /// 0 where the repository was not read, and so no commit folded.
  int commit_count() const { return commit_count_; }

  /// The commit of each class, with its paths.
  friend std::vector<bisect::Commit> candidates_of(const RecordedSearch&);
  /// Counts the faults of the recipe in a row, up to now.
  friend int faults_in_a_row(const RecordedSearch&);
  /// Why no series could be measured; empty where one could.
  friend std::string why_all_dropped(const RecordedSearch&, std::size_t series);
  /// Whether the two were measured against each other only after the one was suspected.
  friend bool is_freshly_verified(const RecordedSearch&, std::size_t culprit,
                                  bisect::Reference parent);

 private:
  RecordedSearch(storage::BisectionStore, storage::Id, std::string good, bisect::CulpritSearch);
  Status replay();

  storage::BisectionStore store_;
  storage::Id bisection_;
  std::string good_;
  std::vector<bisect::Commit> range_;
  int commit_count_ = 0;
  bisect::FoldedRange folded_;
  bisect::CulpritSearch search_;
  std::vector<BisectionEvent> events_;
  int next_ordinal_ = 0;
};

std::string why_all_dropped(const RecordedSearch&, std::size_t series);
bool is_freshly_verified(const RecordedSearch&, std::size_t culprit, bisect::Reference parent);

/// Records that a class between the ends cannot be built, or fails these series. One that was
/// measured before keeps what it read, and is read no more of them.
Status leave_out(RecordedSearch&, CommitUnbuildable, const std::vector<std::size_t>& all_series);

}  // namespace torchwatch::bisection
