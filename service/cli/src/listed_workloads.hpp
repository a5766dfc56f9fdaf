#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>

#include "torchwatch/daemon/session.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::cli {

/// The newest build that is ready and still lies where it was. Errors: not_found, saying how to
/// get one.
Result<storage::BuildRow> newest_build(daemon::Session&);

/// What `torchwatch-runner list --json` of that build's kit prints: the suite's workloads as
/// configured, at least. Asked once, as it builds every network, and kept beside the kit.
Result<nlohmann::json> list_workloads(daemon::Session&, const storage::BuildRow&,
                                      std::stop_token stop);

}  // namespace torchwatch::cli
