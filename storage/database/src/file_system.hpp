#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::storage {

/// Returns the name of the network file system with that statfs type, or an empty string for a
/// local one. A database in WAL mode shares memory among its processes, which a network file system
/// cannot offer.
std::string network_file_system(std::int64_t statfs_type);

/// Makes the folder of `file` if it is missing. Errors: unavailable (it cannot be made), invalid
/// (it is on a network file system).
Status prepare_folder_of(const std::filesystem::path& file);

/// The file that a path stood for. It is another one once that was deleted or exchanged.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};
/// Returns nothing where there is no file.
std::optional<FileIdentity> identity_of(const std::filesystem::path&);
/// Returns whether the path no longer stands for that file. A path that cannot be looked at for
/// another reason counts as unchanged.
bool is_exchanged(const std::filesystem::path&, const FileIdentity&);

/// Returns "12 MiB free on its file system" for messages, or an empty string where it is unknown.
std::string free_space_note(const std::filesystem::path& file);

/// Gives a file the mode of another one; of a folder, its mode without execution. Errors:
/// unavailable.
Status take_mode(const std::filesystem::path& file, const std::filesystem::path& like);
/// Gives a file the owner and the group of another file or of a folder, where this process is
/// root: what root puts there is for who works there. Errors: unavailable.
Status take_owner(const std::filesystem::path& file, const std::filesystem::path& like);

/// Syncs a written file, or the folder of a renamed one, to the disk. Errors: unavailable.
Status sync_to_disk(const std::filesystem::path&);

}  // namespace torchwatch::storage
