#pragma once

#include <string>

#include "torchwatch/activity/profile.hpp"

namespace torchwatch::activity {

/// The profile's iteration in Chrome's trace event format, for chrome://tracing and
/// ui.perfetto.dev: one row for each stream, with kernels by their C++ names and copies with their
/// bytes, below one for the iteration. Times are microseconds from its begin.
std::string chrome_trace(const Profile& profile, const std::string& iteration_name);

}  // namespace torchwatch::activity
