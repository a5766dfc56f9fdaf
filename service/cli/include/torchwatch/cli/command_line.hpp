#pragma once

#include <iosfwd>
#include <span>
#include <stop_token>
#include <string>

namespace torchwatch::cli {

/// Runs `torchwatch ARGUMENTS` and returns its exit status (see exit_status.hpp). What people and
/// machines asked for goes to `out`, everything else to `err`.
int run(std::span<const char* const> arguments, std::ostream& out, std::ostream& err,
        std::stop_token stop);

}  // namespace torchwatch::cli
