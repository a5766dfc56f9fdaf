#include "torchwatch/orders/node_copies.hpp"

#include <algorithm>
#include <set>

#include "own_folder.hpp"
#include "torchwatch/builds/file_hashes.hpp"
#include "torchwatch/platform/folder.hpp"

namespace torchwatch::orders {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPartial = ".partial";

tl::unexpected<Error> failed(const fs::path& path, const std::error_code& error) {
  return fail(ErrorCode::unavailable,
              "copy on this node: " + path.string() + ": " + error.message());
}

struct Kept {
  fs::path folder;
  fs::file_time_type used;
  std::int64_t bytes = 0;
};

Kept kept(const fs::path& folder) {
  std::error_code ignored;
  platform::FileBytes bytes;
  const auto listing = platform::list_tree(folder);
  for (const auto& entry : listing.entries) bytes.add(entry);
  return {.folder = folder, .used = fs::last_write_time(folder, ignored), .bytes = bytes.sum()};
}

/// Contents that no copy has a link to.
void remove_unlinked(const fs::path& contents) {
  std::error_code ignored;
  const auto listing = platform::list_folder(contents);
  for (const auto& entry : listing.entries) {
    if (entry.hard_link_count(ignored) == 1) fs::remove(entry.path(), ignored);
  }
}

}  // namespace

Result<NodeCopies> NodeCopies::open(fs::path folder) {
  NodeCopies copies(std::move(folder));
  for (const auto& each : {copies.folder_, copies.contents(), copies.folder_ / "folders"}) {
    TW_TRY_VOID(make_own_folder(each));
  }
  return copies;
}

fs::path NodeCopies::copy_of(const CopiedFolder& folder) const {
  return folder_ / "folders" / folder.key();
}

/// Content counts once its hash was computed here, whoever wrote it.
bool NodeCopies::has(const std::string& sha256) const {
  std::error_code error;
  const auto content = contents() / sha256;
  if (fs::exists(content, error)) return true;
  const auto arriving = contents() / (sha256 + kArriving);
  if (!fs::exists(arriving, error)) return false;
  const auto hash = builds::sha256_of_file(arriving);
  if (!hash || *hash != sha256) {
    fs::remove(arriving, error);
    return false;
  }
  using fs::perms;
  fs::permissions(arriving, perms::owner_read | perms::owner_exec, error);
  fs::rename(arriving, content, error);
  return !error;
}

Result<std::vector<std::string>> NodeCopies::missing(
    const std::vector<CopiedFolder>& folders) const {
  std::error_code error;
  std::set<std::string> hashes;
  for (const auto& folder : folders) {
    if (fs::exists(copy_of(folder), error)) continue;
    for (const auto& file : folder.files) {
      if (!has(file.sha256)) hashes.insert(file.sha256);
    }
  }
  return std::vector(hashes.begin(), hashes.end());
}

/// Under another name until it is whole.
Status NodeCopies::make(const CopiedFolder& folder) const {
  std::error_code error;
  const auto copy = copy_of(folder);
  const fs::path partial = copy.string() + kPartial;
  fs::remove_all(partial, error);
  for (const auto& file : folder.files) {
    const auto to = partial / file.path;
    fs::create_directories(to.parent_path(), error);
    if (!error) fs::create_hard_link(contents() / file.sha256, to, error);
    if (error) return failed(to, error);
  }
  fs::rename(partial, copy, error);
  if (error) return failed(copy, error);
  return {};
}

Status NodeCopies::place(const std::vector<CopiedFolder>& folders,
                         executor::RunBlock& block) const {
  std::error_code error;
  for (const auto& folder : folders) {
    const auto copy = copy_of(folder);
    if (!fs::exists(copy, error)) TW_TRY_VOID(make(folder));
    fs::last_write_time(copy, fs::file_time_type::clock::now(), error);
    const auto go_to_copy = [&](fs::path& path) {
      const auto below = path.lexically_relative(folder.root);
      if (path.empty() || below.empty() || *below.begin() == "..") return;
      if (fs::exists(copy / below, error)) path = copy / below;
    };
    for (auto& run : block.runs) {
      go_to_copy(run.libraries);
      go_to_copy(run.runner);
    }
  }
  return {};
}

void NodeCopies::keep_within(std::int64_t bytes) const {
  std::error_code ignored;
  std::vector<Kept> copies;
  const auto listing = platform::list_folder(folder_ / "folders");
  for (const auto& entry : listing.entries) copies.push_back(kept(entry.path()));
  std::ranges::sort(copies, std::ranges::greater(), &Kept::used);
  std::int64_t sum = 0;
  for (const auto& copy : copies) {
    const bool fits = sum + copy.bytes <= bytes;
    if (fits) sum += copy.bytes;
    if (!fits) fs::remove_all(copy.folder, ignored);
  }
  remove_unlinked(contents());
}

}  // namespace torchwatch::orders
