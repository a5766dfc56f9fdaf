#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace torchwatch::cli {

/// Returns what `--help` prints of a command, at most 80 columns wide: what it does, its arguments
/// and options with their defaults, the options of all commands, an example, and for the whole
/// program the exit statuses.
std::string help_of(const CLI::App&);

}  // namespace torchwatch::cli
