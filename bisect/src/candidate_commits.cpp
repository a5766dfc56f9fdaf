#include "torchwatch/bisect/candidate_commits.hpp"

#include <algorithm>
#include <iterator>

namespace torchwatch::bisect {
namespace {

bool glob(std::string_view pattern, std::string_view path);

/// `**/`: the rest of the pattern fits here or behind any later folder.
bool glob_below(std::string_view rest, std::string_view path) {
  while (!glob(rest, path)) {
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
  return true;
}

bool glob(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (pattern.starts_with("**/")) return glob_below(pattern.substr(3), path);
  if (pattern == "**") return true;
  if (pattern.front() == '*') {
    return glob(pattern.substr(1), path) ||
           (!path.empty() && path.front() != '/' && glob(pattern, path.substr(1)));
  }
  if (path.empty()) return false;
  const bool fits = pattern.front() == '?' ? path.front() != '/' : pattern.front() == path.front();
  return fits && glob(pattern.substr(1), path.substr(1));
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool cannot_change_library(const Commit& commit, const PathPatterns& cannot_change) {
  return std::all_of(commit.changed_paths.begin(), commit.changed_paths.end(),
                     [&](const std::string& path) { return cannot_change.match(path); });
}

}  // namespace

const std::vector<std::string>& default_cannot_change() {
  static const std::vector<std::string> kPatterns{"docs/**", "test/**", "tests/**", "*.md",
                                                  ".github/**"};
  return kPatterns;
}

Result<PathPatterns> PathPatterns::create(std::vector<std::string> patterns) {
  for (const auto& pattern : patterns) {
    if (pattern.empty() || pattern.front() == '/' ||
        pattern.find_first_of("[\\") != std::string::npos) {
      return fail(ErrorCode::invalid,
                  "path pattern \"" + pattern +
                      "\" is not understood; allowed are paths from the repository's root with "
                      "*, ? and **, such as docs/** or *.md");
    }
  }
  return PathPatterns(std::move(patterns));
}

bool PathPatterns::match(std::string_view path) const {
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
    const bool has_folder = pattern.find('/') != std::string::npos;
    return glob(pattern, has_folder ? path : file_name(path));
  });
}

FoldedRange fold(const std::vector<Commit>& range, const PathPatterns& cannot_change) {
  FoldedRange folded;
  for (std::size_t i = 0; i < range.size(); ++i) {
    if (!cannot_change_library(range[i], cannot_change)) {
      folded.classes.push_back({i, {}});
    } else if (folded.classes.empty()) {
      folded.unchanged.push_back(i);
    } else {
      folded.classes.back().folded.push_back(i);
    }
  }
  return folded;
}

std::vector<SameLibrary> join_equal(const std::string& good,
                                    const std::vector<std::optional<std::string>>& hashes) {
  std::vector<SameLibrary> joined;
  for (std::size_t later = 0; later < hashes.size(); ++later) {
    if (!hashes[later]) continue;
    if (*hashes[later] == good) {
      joined.push_back({std::nullopt, later});
      continue;
    }
    const auto end = hashes.begin() + static_cast<std::ptrdiff_t>(later);
    const auto earlier = std::find(hashes.begin(), end, hashes[later]);
    if (earlier != end) {
      joined.push_back({static_cast<std::size_t>(std::distance(hashes.begin(), earlier)), later});
    }
  }
  return joined;
}

}  // namespace torchwatch::bisect
