#include "torchwatch/runner/machine_memory.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::runner {
namespace {

namespace fs = std::filesystem;

/// The files in which one version of control groups states a group's limit and use.
struct GroupFiles {
  const char* folder;
  const char* limit;
  const char* usage;
  std::array<std::string_view, 2>
      cached;  ///< labels in memory.stat: files that the kernel gives up
};
constexpr GroupFiles kUnified{.folder = "sys/fs/cgroup",
                              .limit = "memory.max",
                              .usage = "memory.current",
                              .cached = {"active_file", "inactive_file"}};
constexpr GroupFiles kController{.folder = "sys/fs/cgroup/memory",
                                 .limit = "memory.limit_in_bytes",
                                 .usage = "memory.usage_in_bytes",
                                 .cached = {"total_active_file", "total_inactive_file"}};

/// The number that a file begins with; empty also for "max".
std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (file >> number) return number;
  return {};
}

/// The number after `label` in a file with lines "label number".
std::optional<std::int64_t> labelled_number(const fs::path& path, std::string_view label) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::int64_t number = 0;
    if (words >> word >> number && word == label) return number;
  }
  return {};
}

void lower(std::optional<std::int64_t>& least, std::optional<std::int64_t> value) {
  if (value) least = least ? std::min(*least, *value) : *value;
}

std::optional<std::int64_t> left_in(const fs::path& group, const GroupFiles& files) {
  const auto limit = number_in(group / files.limit);
  const auto usage = number_in(group / files.usage);
  if (!limit || !usage) return {};
  std::int64_t left = *limit - *usage;
  for (const auto label : files.cached) {
    left += labelled_number(group / "memory.stat", label).value_or(0);
  }
  return std::max<std::int64_t>(0, left);
}

/// A group may use no more than the groups it lies in. A container sees its own group as the
/// outermost one, under a path that does not exist inside: then only the outermost one is read.
std::optional<std::int64_t> left_in_and_above(const fs::path& root, fs::path group,
                                              const GroupFiles& files) {
  std::optional<std::int64_t> least;
  for (;; group = group.parent_path()) {
    lower(least, left_in(root / files.folder / group, files));
    if (group.empty()) return least;
  }
}

/// One line of /proc/self/cgroup, such as "9:name=systemd:/user".
struct GroupLine {
  std::string controllers;
  std::string path;
};

std::vector<GroupLine> groups_of_this_process(const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  std::vector<GroupLine> groups;
  for (std::string number, controllers, path; std::getline(file, number, ':') &&
                                              std::getline(file, controllers, ':') &&
                                              std::getline(file, path);) {
    path.erase(0, path.find_first_not_of('/'));
    groups.push_back({controllers, path});
  }
  return groups;
}

}  // namespace

std::optional<std::int64_t> machine_memory_available(const fs::path& root) {
  constexpr std::int64_t kKibibyte = 1024;
  const auto kibibytes = labelled_number(root / "proc/meminfo", "MemAvailable:");
  std::optional<std::int64_t> least;
  if (kibibytes) least = *kibibytes * kKibibyte;
  for (const auto& [controllers, path] : groups_of_this_process(root)) {
    if (controllers.empty()) lower(least, left_in_and_above(root, path, kUnified));
    if (controllers == "memory") lower(least, left_in_and_above(root, path, kController));
  }
  return least;
}

}  // namespace torchwatch::runner
