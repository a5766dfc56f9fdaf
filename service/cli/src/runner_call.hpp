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

/// What `torchwatch-runner COMMAND --json` of that build's kit prints.
Result<nlohmann::json> call_runner(daemon::Session&, const storage::BuildRow&,
                                   const std::string& command, std::stop_token stop);

}  // namespace torchwatch::cli
