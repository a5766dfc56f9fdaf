#include "kit_question.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "file_hashes.hpp"
#include "torchwatch/builds/sha256.hpp"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using std::string_view_literals::operator""sv;

constexpr std::array kSourceExtensions{".cpp"sv, ".hpp"sv, ".h"sv, ".inc"sv};

bool is_source(const fs::path& path) {
  return std::ranges::find(kSourceExtensions, path.extension().string()) != kSourceExtensions.end();
}

/// All of ours in a folder and below. More than a kit reaches: then a key is computed anew.
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

Status add_own_sources(const KitPlan& plan, Sha256& hash) {
  std::vector<std::string> folders = plan.manifest.plain_sources;
  for (const auto* more : {&plan.manifest.libtorch_sources, &plan.manifest.include}) {
    folders.insert(folders.end(), more->begin(), more->end());
  }
  folders.push_back(plan.manifest.workload_folder);
  std::vector<std::string> files;
  for (const auto& folder : folders) TW_TRY_VOID(add_folder(plan.sources, folder, files));
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
  for (const auto& file : files) {
    TW_TRY(const std::string content, process_file_hashes().of(plan.sources / file));
    hash.add_field(file);
    hash.add_field(content);
  }
  return {};
}

/// A folder or file by what changes when it is replaced.
Status add_identity(const fs::path& path, Sha256& hash) {
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

Status add_headers_identity(const fs::path& tree, Sha256& hash) {
  std::error_code error;
  const fs::path include = fs::canonical(tree / "include", error);
  if (error) {
    return fail(ErrorCode::not_found, (tree / "include").string() + ": " + error.message());
  }
  TW_TRY_VOID(add_identity(include, hash));
  // Whoever changes a tree in place writes its mark anew; not every include folder has one.
  const fs::path mark = include.parent_path() / "build-hash";
  if (!fs::exists(mark, error)) return {};
  TW_TRY_VOID(add_identity(mark, hash));
  TW_TRY(const std::string content, sha256_of_file(mark));
  hash.add_field(content);
  return {};
}

}  // namespace

Result<std::string> kit_question(const KitPlan& plan, const std::string& compiler) {
  Sha256 hash;
  hash.add_field(compiler);
  hash.add_field(table_of(plan));
  for (const auto& flag : compile_flags(plan)) hash.add_field(flag);
  for (const auto& flag : plan.manifest.link) hash.add_field(flag);
  for (const auto& library : plan.link.libraries) hash.add_field(library);
  hash.add_field(plan.manifest.executable);
  TW_TRY_VOID(add_headers_identity(plan.tree, hash));
  TW_TRY_VOID(add_own_sources(plan, hash));
  return hash.hex();
}

}  // namespace torchwatch::builds
