#pragma once

#include <string>

namespace torchwatch::doors {

/// Kills every process that a daemon with this `owner` started and that outlived it, and waits
/// (at most 5 s) until they are gone: a ghost would disturb what is measured next. A daemon that
/// still runs keeps its children. Returns how many were found.
int sweep_leftovers(const std::string& owner);

}  // namespace torchwatch::doors
