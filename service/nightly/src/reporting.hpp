#pragma once

#include <string>

#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// What changed, in one line, as far as the verdicts tell.
Result<std::string> title_of(Workshop&, const storage::NightRow&, const storage::IncidentRow&);

/// Queues the comment on an incident that is open already and was found again by `night`. Call
/// inside the verdict's transaction.
Status queue_recurrence(Workshop&, const storage::NightRow& night, const storage::IncidentRow&);

/// Queues the comment with which a closed incident's issue is closed. Call inside the transaction
/// that closes it.
Status queue_recovery(Workshop&, const storage::NightRow& recheck, const storage::IncidentRow&);

/// Queues the comment with which the issue of an accepted incident is closed. Call inside the
/// transaction that accepts it.
Status queue_acceptance(Workshop&, const storage::IncidentRow&, const storage::Acceptance&);

/// bisected -> reported: one message per incident goes into the outbox in the transaction that
/// ends the night, and what follows a nightly is opened: open incidents measured again, the
/// comparison with an older nightly where it is due, the self-test.
Result<storage::NightRow> report_night(Workshop&, const storage::NightRow&);

}  // namespace torchwatch::nightly
