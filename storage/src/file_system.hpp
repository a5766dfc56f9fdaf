#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::storage {

/// The name of the network file system with that statfs type; empty for a local one. A database
/// in WAL mode shares memory among its processes, which a network file system cannot offer.
std::string network_file_system(std::int64_t statfs_type);

/// The folder of `file` exists (made if it did not) and is on a local file system.
Status prepare_folder_of(const std::filesystem::path& file);

/// "12 MiB free on its file system", for messages; empty where it cannot be told.
std::string free_space_note(const std::filesystem::path& file);

/// Puts a written file, or a renamed folder entry, onto the disk.
Status sync_to_disk(const std::filesystem::path&);

}  // namespace torchwatch::storage
