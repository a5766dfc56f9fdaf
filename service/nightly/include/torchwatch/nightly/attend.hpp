#pragma once

#include <functional>
#include <string>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/setback_store.hpp"

namespace torchwatch::nightly {

/// What an error in the work on an item means for the item.
enum class Consequence {
  ends,    ///< it is about this item, and no later try can do better
  counts,  ///< what the item itself did failed: it has three tries
  waits,   ///< the machine, the network or a token is to blame: it waits for as long as that lasts
  stops,   ///< the service was asked to stop, or the database is damaged
};
Consequence consequence_of(ErrorCode);

/// How an item ends that is not done.
enum class Failure {
  refused,  ///< it can never be carried out as asked
  failed,   ///< its tries are used up
};

/// One item of work.
struct WorkItem {
  storage::ItemKey key;
  std::function<Status()> work;
  /// Ends the item, which the error keeps from its end, with that error's message as the reason.
  std::function<Status(Failure, const std::string& reason)> end;
};

enum class Attended { done, ended, put_off };

/// Works on an item so that its error stays its own: the item ends, or its setback is stored with
/// the time of the next try (one minute later, doubled each time, up to half an hour). An item that
/// took the service down three times ends without another try. Errors:
/// cancelled, damaged; those of storage, when not even the setback could be stored.
Result<Attended> attend(comparison::Services&, const WorkItem&);

/// When an item with a setback is tried again.
enum class Retry {
  when_due,  ///< by the service: after its pause
  now,       ///< by a person who runs a command: at once, but once for each list
};

/// Returns whether the item may be tried now. Errors: of storage.
Result<bool> is_due(comparison::Services&, const storage::ItemKey&);

/// Notes a try that took the service down, at the next start. After the third, `attend` ends the
/// item. Errors: of storage.
Status note_downfall(storage::Database&, const storage::ItemKey&, storage::WallMillis now);

}  // namespace torchwatch::nightly
