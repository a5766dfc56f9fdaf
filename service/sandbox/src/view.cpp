#include "view.hpp"

#include <algorithm>
#include <deque>
#include <system_error>

#include "torchwatch/platform/folder.hpp"

namespace torchwatch::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr int kLinksMax = 40;  ///< as many as the kernel follows in a path

/// The links on a path, and where it ends.
struct Walk {
  std::map<fs::path, fs::path> links;
  fs::path end;  ///< empty if it leads nowhere
};

Walk walk(const fs::path& path) {
  Walk walked;
  fs::path at = "/";
  std::deque<fs::path> names(path.begin(), path.end());
  int links = 0;
  while (!names.empty()) {
    const fs::path name = names.front();
    names.pop_front();
    if (name.empty() || name == "." || name == "/") continue;
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    std::error_code error;
    const fs::path next = at / name;
    const auto status = fs::symlink_status(next, error);
    if (!fs::exists(status) || links > kLinksMax) return walked;
    if (!fs::is_symlink(status)) {
      at = next;
      continue;
    }
    ++links;
    const fs::path target = fs::read_symlink(next, error);
    walked.links[next] = target;
    if (target.is_absolute()) at = "/";
    names.insert(names.begin(), target.begin(), target.end());
  }
  walked.end = at;
  return walked;
}

bool is_within_one(const fs::path& path, const std::vector<fs::path>& folders) {
  return std::ranges::any_of(folders, [&](const fs::path& folder) {
    return platform::lies_in(path, folder) || platform::lies_in(path, walk(folder).end);
  });
}

/// The paths that a link leads through, one for each link: LINK -> A/x -> B/y gives A/x and B/y.
std::vector<fs::path> hops_of(fs::path link) {
  std::vector<fs::path> hops;
  std::error_code error;
  while (hops.size() < kLinksMax && fs::is_symlink(link, error)) {
    link = (link.parent_path() / fs::read_symlink(link, error)).lexically_normal();
    hops.push_back(link);
  }
  return hops;
}

}  // namespace

fs::path show(View& view, const fs::path& path, Access access) {
  const Walk walked = walk(path);
  if (walked.end.empty()) return {};
  view.links.insert(walked.links.begin(), walked.links.end());
  Access& known = view.mounts.try_emplace(walked.end, access).first->second;
  known = std::max(known, access);
  return walked.end;
}

void show_linked(View& view, const fs::path& folder, const std::vector<fs::path>& targets) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    for (const fs::path& hop : hops_of(entry->path())) {
      // Judged by where it really ends: its own text may lead through further links.
      if (!is_within_one(walk(hop.parent_path()).end, targets)) break;
      show(view, hop.parent_path(), Access::read);
    }
  }
}

std::map<fs::path, Access> distinct_mounts(const View& view) {
  std::map<fs::path, Access> distinct;
  for (const auto& [path, access] : view.mounts) {  // a folder comes before what lies in it
    const auto above = std::find_if(
        distinct.rbegin(), distinct.rend(),
        [&, &inner = path](const auto& mount) { return platform::lies_in(inner, mount.first); });
    if (above == distinct.rend() || above->second != access) distinct.emplace(path, access);
  }
  return distinct;
}

}  // namespace torchwatch::sandbox
