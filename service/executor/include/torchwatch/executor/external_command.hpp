#pragma once

#include <map>
#include <string>

#include "torchwatch/executor/executor.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::executor {

/// The variable in which an external workload finds the tree of the build that it measures.
inline constexpr const char* kTreeVariable = "TORCHWATCH_TREE";

/// Returns why a command cannot be started, with what to do: its program is missing, may not be
/// executed, is neither an ELF file for this processor nor a script with `#!`, or its interpreter
/// is missing. Empty where it can.
std::string why_not_startable(const ExternalCommand&);

/// Returns why a command is wrong as it is written, with what to do: it cannot be started, or an
/// argument or `readable` is a path to nothing, which the sandbox of a run cannot show. Empty where
/// it is right.
std::string what_is_wrong(const ExternalCommand&);

/// Adds what an external workload sees to the profile of a run: the tree of the build, its command
/// and the files that this names, the interpreter of a script.
void show_command(const ExternalCommand&, const std::filesystem::path& tree, sandbox::Profile&);

}  // namespace torchwatch::executor
