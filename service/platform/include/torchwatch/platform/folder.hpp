#pragma once

#include <filesystem>
#include <system_error>
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

}  // namespace torchwatch::platform
