#pragma once

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::triage {

/// Where it is said what was decided.
enum class Telling {
  issue,
  nowhere  ///< the issue is where it was decided
};

/// Makes a person's decision about an incident, now: changes its state, keeps who decided and why,
/// and queues what its issue needs: a comment, and that it is closed or open again. `kind` is any
/// but disputed (triage/triage.hpp). Errors: invalid (no name; an acceptance without a reason),
/// not_found, conflict (the state does not admit it; its comparison has not ended, so there is no
/// issue yet to close). Thread-safe beside the pipeline.
Status decide_incident(comparison::Services&, storage::Id incident, storage::DecisionKind kind,
                       const storage::Decision&, Telling = Telling::issue);

}  // namespace torchwatch::triage
