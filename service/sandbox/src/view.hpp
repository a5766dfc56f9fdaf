#pragma once

#include <filesystem>
#include <map>
#include <vector>

namespace torchwatch::sandbox {

enum class Access { read, write };

/// The part of the file system that a child sees, at the paths that it has outside.
struct View {
  std::map<std::filesystem::path, Access> mounts;                ///< real paths
  std::map<std::filesystem::path, std::filesystem::path> links;  ///< link, its text
};

/// Returns the real path and adds to `view` what is needed to reach `path`: the links on its way
/// and, behind them, the file or folder itself. Empty, with nothing mounted, if it does not exist.
std::filesystem::path show(View& view, const std::filesystem::path& path, Access access);

/// Follows the links that lie in `folder` as far as they lead into one of `targets`, and shows the
/// folder of each file that they lead to.
void show_linked(View& view, const std::filesystem::path& folder,
                 const std::vector<std::filesystem::path>& targets);

/// The mounts that say something new: one below another of equal access is left out.
std::map<std::filesystem::path, Access> distinct_mounts(const View& view);

}  // namespace torchwatch::sandbox
