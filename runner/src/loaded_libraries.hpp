#pragma once

#include <map>
#include <string>

namespace torchwatch::runner {

/// The shared libraries of this process with their ELF build ids: "build.library.NAME" for those
/// that lie beside LibTorch's own, "library.NAME" (with the path, as alternatives can lead one name
/// to different files) for the system's.
std::map<std::string, std::string> library_facts();

}  // namespace torchwatch::runner
