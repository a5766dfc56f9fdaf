#pragma once

#include <filesystem>

#include "torchwatch/config/config.hpp"

namespace torchwatch::daemon {

/// Returns the folder of sources that belongs to a program: share/torchwatch of its installation,
/// or the checkout that it was built from where it is not installed.
std::filesystem::path sources_of(const std::filesystem::path& program);

/// Returns [build] kit_sources, or the sources of this program: kits are compiled from models/ and
/// runner/ there, and deploy/libtorch makes trees from wheels.
std::filesystem::path source_folder(const config::Config&);

}  // namespace torchwatch::daemon
