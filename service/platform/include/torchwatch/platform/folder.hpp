#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

namespace torchwatch::platform {

/// What lies in a folder, in no order.
struct Listing {
  std::vector<std::filesystem::directory_entry> entries;
  /// Why there may be more than could be listed; unset if these are all.
  std::error_code error;
};

/// Lists what lies directly in a folder. Never throws for the file system's sake, unlike a loop
/// over the standard library's iterator, whose increment does.
Listing list_folder(const std::filesystem::path& folder);

/// Lists what lies in a folder at any depth; links are listed, not followed. A folder in it that
/// cannot be listed ends the list.
Listing list_tree(const std::filesystem::path& folder);

/// Whether `path` names that folder or what lies in it, by the names alone: ".." is resolved, links
/// are not (`without_links` follows those of both).
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Returns the path with every link on it followed, as far as it exists; unchanged where that
/// cannot be found out.
std::filesystem::path without_links(const std::filesystem::path& path);

/// The bytes of files, each counted once, also where trees share it under several names.
class FileBytes {
 public:
  /// Adds a file; nothing else, and none that is gone.
  void add(const std::filesystem::directory_entry& entry);
  void add(const FileBytes& other);
  std::int64_t sum() const;

 private:
  std::int64_t of_one_name_ = 0;
  std::map<std::pair<dev_t, ino_t>, std::int64_t> of_several_names_;
};

}  // namespace torchwatch::platform
