#pragma once

#include <string_view>

#include "torchwatch/process/process.hpp"

namespace torchwatch::process {

/// Turns the end of bwrap into that of its program, by what bwrap reported (--json-status-fd). A
/// program that was killed by a signal ends bwrap with 128 and the signal's number, as in a shell.
/// Without a reported end the program never ran: SpawnFailed.
ProcessEnd end_of_launched(const ProcessEnd& launcher, std::string_view report);

}  // namespace torchwatch::process
