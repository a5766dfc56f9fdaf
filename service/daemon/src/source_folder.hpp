#pragma once

#include <filesystem>

namespace torchwatch::daemon {

/// Returns the folder of sources that belongs to a program: share/torchwatch of its installation,
/// or the checkout that it was built from where it is not installed.
std::filesystem::path sources_of(const std::filesystem::path& program);

}  // namespace torchwatch::daemon
