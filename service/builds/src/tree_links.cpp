#include "tree_links.hpp"

#include <optional>

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;

constexpr int kHopsMax = 40;  // as the kernel's own limit

/// The first part of `path` below `cache`, if it lies there.
std::optional<std::string> name_in(const fs::path& cache, const fs::path& path) {
  const fs::path relative = path.lexically_relative(cache);
  if (relative.empty() || *relative.begin() == ".." || *relative.begin() == ".") return {};
  return relative.begin()->string();
}

/// Where a link leads in one step, the folders before its name freed of links.
fs::path step_from(const fs::path& link, std::error_code& error) {
  fs::path target = fs::read_symlink(link, error);
  if (error) return {};
  if (target.is_relative()) target = link.parent_path() / target;
  const fs::path folder = fs::weakly_canonical(target.parent_path(), error);
  return (error ? target.parent_path().lexically_normal() : folder) / target.filename();
}

void add_hops(fs::path link, const fs::path& cache, std::set<std::string>& names) {
  for (int hop = 0; hop < kHopsMax; ++hop) {
    std::error_code error;
    const fs::path target = step_from(link, error);
    if (target.empty()) return;
    if (const auto name = name_in(cache, target)) names.insert(*name);
    if (!fs::is_symlink(target, error)) return;
    link = target;
  }
}

}  // namespace

Result<TreeContent> content_of(const fs::path& tree, const fs::path& cache) {
  TreeContent content;
  std::error_code error;
  const fs::path real_cache = fs::weakly_canonical(cache, error);
  fs::recursive_directory_iterator entry(tree, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_symlink(ignored)) {
      add_hops(entry->path(), real_cache, content.links);
    } else if (entry->is_regular_file(ignored)) {
      content.bytes += static_cast<std::int64_t>(entry->file_size(ignored));
    }
  }
  if (error) {
    return fail(ErrorCode::unavailable, "cannot list " + tree.string() + ": " + error.message());
  }
  content.links.erase(tree.filename().string());
  return content;
}

}  // namespace torchwatch::builds
