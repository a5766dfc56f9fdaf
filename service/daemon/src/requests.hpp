#pragma once

#include <set>
#include <stop_token>

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/nightly/attend.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::daemon {

/// Answers the requests that only wake the service: the due nightlies are looked for anyway.
Status answer_triggers(Application&);

/// When a request is carried out.
enum class Urgency {
  now,      ///< before a nightly that is due: who asked wanted that
  in_turn,  ///< after the nightlies
};

/// Works on the oldest request of that urgency that is due until it ends or is put off; false when
/// there is none. Errors: as nightly::attend.
Result<bool> attend_next_request(Application&, Urgency, std::stop_token stop);

/// Returns the bisections of requests that have not ended: their requests carry them on.
Result<std::set<storage::Id>> bisections_of_requests(Application&);

/// Opens the requests again that an earlier process left running. Whether it was one of them that
/// took the service down, Application notes.
Status reopen_requests(Application&);

}  // namespace torchwatch::daemon
