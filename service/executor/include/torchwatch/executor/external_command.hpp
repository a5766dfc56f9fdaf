#pragma once

#include <map>
#include <string>

#include "torchwatch/executor/executor.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::executor {

/// The variable in which an external workload finds the tree of the build that it measures.
inline constexpr const char* kTreeVariable = "TORCHWATCH_TREE";

/// Returns why a command cannot be started, with what to do: its program is missing, may not be
/// executed, is neither an ELF file nor a script with `#!`, or its interpreter is missing. Empty
/// where it can.
std::string why_not_startable(const ExternalCommand&);

/// Returns which argument or `readable` of a command is a path to nothing, with what to do: the
/// sandbox of a run cannot show it. Empty where there is none.
std::string missing_file_of(const ExternalCommand&);

/// Adds what an external workload sees to the profile of a run: the tree of the build, its command
/// and the files that this names, the interpreter of a script.
void show_command(const ExternalCommand&, const std::filesystem::path& tree, sandbox::Profile&);

}  // namespace torchwatch::executor
