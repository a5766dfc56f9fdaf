#pragma once

#include <map>
#include <string>

namespace torchwatch::runner {

/// The shared libraries of this process with their ELF build ids: "library.NAME" for C's and C++'s
/// own, "build.library.NAME" for all that a build brings along or asks for. The system's with their
/// path, a build's without: it may lie in a fresh copy for each run.
std::map<std::string, std::string> library_facts();

}  // namespace torchwatch::runner
