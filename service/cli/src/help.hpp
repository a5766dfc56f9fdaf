#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "torchwatch/commands/command.hpp"

namespace torchwatch::cli {

/// Returns what `--help` prints of a command, at most 80 columns wide: what it does, its arguments
/// and options with their defaults, the options of all commands, an example, and for the whole
/// program the exit statuses.
std::string help_of(const CLI::App&);

/// An option or an argument as people type it, and what it means with its default.
struct HelpEntry {
  std::string name;
  std::string meaning;
};
/// Returns the arguments of a command, or its options.
std::vector<HelpEntry> entries_of(const CLI::App&, bool positional);

/// Returns "torchwatch incident show [OPTION...] ID".
std::string usage_of(const CLI::App&);

/// Errors: invalid, when --json asks a command that prints text only for JSON.
Status require_text(const commands::Invocation&, const std::string& command);

/// Returns each exit status, and what it means.
std::vector<HelpEntry> exit_statuses();

}  // namespace torchwatch::cli
