#pragma once

#include <stop_token>
#include <string>

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::cli {

/// The build that a person named, as daemon::resolve_build finds it; without a name the newest that
/// is ready and still lies where it was. Errors: of resolving; not_found, saying how to get one.
Result<storage::BuildRow> named_or_newest(daemon::Application&, const std::string& name,
                                          std::stop_token stop);

}  // namespace torchwatch::cli
