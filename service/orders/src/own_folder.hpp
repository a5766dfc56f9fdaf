#pragma once

#include <filesystem>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::orders {

/// Returns Slurm's name of the node: several may share a host in a trial.
std::string node_name();

/// Makes a folder of this user alone. It often lies in /tmp, where anybody may have made one of
/// that name before. Errors: unavailable.
Status make_own_folder(const std::filesystem::path& folder);

}  // namespace torchwatch::orders
