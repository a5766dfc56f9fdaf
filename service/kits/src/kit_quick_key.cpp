#include "kit_quick_key.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "torchwatch/builds/file_hashes.hpp"
#include "torchwatch/digest/sha256.hpp"

namespace torchwatch::kits {
namespace {

namespace fs = std::filesystem;
using std::string_view_literals::operator""sv;

constexpr std::array kOwnFolders{"cmake", "models", "runner", "storage/records"};
constexpr std::array kSourceExtensions{".cpp"sv,   ".hpp"sv, ".h"sv, ".inc"sv,
                                       ".cmake"sv, ".txt"sv, ".py"sv};

bool is_source(const fs::path& path) {
  return std::ranges::find(kSourceExtensions, path.extension().string()) != kSourceExtensions.end();
}

/// Adds all our sources in a folder and below. They are more than a kit reaches, so a change of one
/// that it does not reach costs a new computation of the key.
Status add_folder(const fs::path& root, const std::string& folder,
                  std::vector<std::string>& files) {
  std::error_code error;
  fs::recursive_directory_iterator entry(root / folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (is_source(entry->path())) {
      files.push_back(entry->path().lexically_relative(root).string());
    }
  }
  if (!error) return {};
  return fail(ErrorCode::not_found, "cannot list the runner's sources in " +
                                        (root / folder).string() + ": " + error.message());
}

Status add_own_sources(const fs::path& root, digest::Sha256& hash) {
  std::vector<std::string> files;
  for (const char* folder : kOwnFolders) TW_TRY_VOID(add_folder(root, folder, files));
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
  for (const auto& file : files) {
    TW_TRY(const std::string content, builds::process_file_hashes().of(root / file));
    hash.add_field(file);
    hash.add_field(content);
  }
  return {};
}

/// A folder or file by what changes when it is replaced.
Status add_identity(const fs::path& path, digest::Sha256& hash) {
  struct stat about{};
  if (stat(path.c_str(), &about) != 0) {
    return fail(ErrorCode::not_found, "cannot look at " + path.string() + ": " + strerror(errno));
  }
  hash.add_field(path.string());
  for (const auto number :
       {static_cast<std::int64_t>(about.st_dev), static_cast<std::int64_t>(about.st_ino),
        about.st_mtim.tv_sec, about.st_mtim.tv_nsec}) {
    hash.add_field(std::to_string(number));
  }
  return {};
}

Status add_headers_identity(const fs::path& tree, digest::Sha256& hash) {
  std::error_code error;
  const fs::path include = fs::canonical(tree / "include", error);
  if (error) {
    return fail(ErrorCode::not_found, (tree / "include").string() + ": " + error.message());
  }
  TW_TRY_VOID(add_identity(include, hash));
  // A tree that is changed in place gets a new build-hash; not every include folder has one.
  const fs::path mark = include.parent_path() / "build-hash";
  if (!fs::exists(mark, error)) return {};
  TW_TRY_VOID(add_identity(mark, hash));
  TW_TRY(const std::string content, builds::sha256_of_file(mark));
  hash.add_field(content);
  return {};
}

}  // namespace

Result<std::string> kit_quick_key(const KitSpec& spec, const std::string& toolchain) {
  digest::Sha256 hash;
  hash.add_field(toolchain);
  for (const auto& workload : spec.workloads) hash.add_field(workload);
  TW_TRY_VOID(add_headers_identity(spec.tree, hash));
  TW_TRY_VOID(add_own_sources(spec.sources, hash));
  return hash.hex();
}

}  // namespace torchwatch::kits
