#include "torchwatch/orders/copied_folder.hpp"

#include <algorithm>

#include "torchwatch/builds/file_hashes.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/platform/folder.hpp"

namespace torchwatch::orders {
namespace {

namespace fs = std::filesystem;

bool is_loaded(const fs::path& file) {
  return file.extension() != ".a";
}

bool is_shared_library(const fs::path& file) {
  return file.filename().string().find(".so") != std::string::npos;
}

/// Adds the regular files below a folder, behind links, for which `is_wanted` holds.
Status add_files(const fs::path& folder, bool (*is_wanted)(const fs::path&), CopiedFolder& to) {
  const auto listing = platform::list_tree(folder);
  if (listing.error) {
    return fail(ErrorCode::unavailable, folder.string() + ": " + listing.error.message());
  }
  for (const auto& entry : listing.entries) {
    std::error_code none;
    if (!entry.is_regular_file(none) || !is_wanted(entry.path())) continue;
    TW_TRY(auto hash, builds::process_file_hashes().of(entry.path()));
    to.files.push_back({entry.path().lexically_relative(to.root), std::move(hash)});
  }
  return {};
}

/// With the libraries of CUDA's wheels, which are found beside those of torch.
Result<CopiedFolder> folder_of_libraries(const fs::path& libraries) {
  CopiedFolder folder{.root = libraries.parent_path().parent_path(), .files = {}};
  TW_TRY_VOID(add_files(libraries, is_loaded, folder));
  const auto cuda = folder.root / "nvidia";
  std::error_code none;
  if (fs::is_directory(cuda, none)) TW_TRY_VOID(add_files(cuda, is_shared_library, folder));
  std::ranges::sort(folder.files, {}, &CopiedFolder::File::path);
  return folder;
}

Result<CopiedFolder> folder_of_runner(const fs::path& runner) {
  TW_TRY(auto hash, builds::process_file_hashes().of(runner));
  return CopiedFolder{.root = runner.parent_path(),
                      .files = {{runner.filename(), std::move(hash)}}};
}

}  // namespace

std::string CopiedFolder::key() const {
  digest::Sha256 names_and_contents;
  for (const auto& file : files) {
    names_and_contents.add_field(file.path.string());
    names_and_contents.add_field(file.sha256);
  }
  return names_and_contents.hex();
}

Result<std::vector<CopiedFolder>> folders_of(const executor::RunBlock& block) {
  std::vector<CopiedFolder> folders;
  const auto is_known = [&](const fs::path& path) {
    return std::ranges::any_of(folders, [&](const CopiedFolder& folder) {
      const auto below = path.lexically_relative(folder.root);
      return std::ranges::any_of(folder.files, [&](const CopiedFolder::File& file) {
        return file.path == below || file.path.parent_path() == below;
      });
    });
  };
  for (const auto& run : block.runs) {
    if (!is_known(run.libraries)) {
      TW_TRY(auto libraries, folder_of_libraries(run.libraries));
      folders.push_back(std::move(libraries));
    }
    if (run.command || is_known(run.runner)) continue;
    TW_TRY(auto runner, folder_of_runner(run.runner));
    folders.push_back(std::move(runner));
  }
  return folders;
}

}  // namespace torchwatch::orders
