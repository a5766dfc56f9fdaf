#pragma once

#include <optional>
#include <set>
#include <stop_token>

#include "torchwatch/nightly/attend.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Which comparisons to work on.
enum class Scope {
  nightlies,  ///< those of nightlies first, then what follows from them
  requested,  ///< those that a person asked for
};

/// The comparisons that have not ended, each kind in the order in which it was opened. One that
/// cannot continue never keeps another from it.
class WorkList {
 public:
  WorkList(comparison::Services& services, Retry retry) : services_(services), retry_(retry) {}

  /// Works on the next comparison until it ends or is put off, and returns it as it is then;
  /// nothing when none is left. Errors: as attend.
  Result<std::optional<storage::ComparisonRow>> carry_out_next(Scope, std::stop_token stop);

 private:
  Result<bool> may_try(const storage::ComparisonRow&) const;

  comparison::Services& services_;
  const Retry retry_;
  std::set<storage::Id> tried_;
};

storage::ItemKey key_of(const storage::ComparisonRow&);
storage::ItemKey key_of(const storage::BisectionRow&);

/// Notes at a start what the last process on the database worked on when it died, if that has not
/// ended: a comparison, a bisection, a request or a build. Errors: of storage.
Status note_downfall_of(storage::Database&, const storage::ItemKey&, storage::WallMillis now);

/// Works on one comparison until it ends or is put off. Errors: as attend.
Result<Attended> attend_comparison(comparison::Services&, const storage::ComparisonRow&,
                                   std::stop_token stop);

/// Ends a comparison as refused where the error is about it and no later try can do better; else
/// it stays as it is. Errors: of storage.
Status end_if_refused(comparison::Services&, storage::Id comparison, const Error&);

/// Works on one bisection until it ends or is put off. Errors: as attend.
Result<Attended> attend_bisection(comparison::Services&, const storage::BisectionRow&,
                                  std::stop_token stop);

}  // namespace torchwatch::nightly
