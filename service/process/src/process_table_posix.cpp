#include "process_table_posix.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::process {
namespace {

struct FolderCloser {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, FolderCloser>;

std::string proc_path(pid_t pid, std::string_view name) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(name);
}

/// Empty when the process is gone or not ours to look at.
std::string read_whole(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> block{};
  ssize_t got = 0;
  while (fd.is_open() && (got = read(fd.get(), block.data(), block.size())) > 0) {
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// The names in a folder that are numbers: processes of /proc, threads of /proc/PID/task.
std::vector<pid_t> numbers_in(const std::string& path) {
  std::vector<pid_t> numbers;
  const Folder folder(opendir(path.c_str()));
  if (!folder) return numbers;
  while (const dirent* const entry = readdir(folder.get())) {
    const std::string_view name(entry->d_name);
    pid_t number = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (parsed.ec == std::errc{} && parsed.ptr == name.data() + name.size()) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

/// Children of all threads of a process.
std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  const std::string tasks = proc_path(pid, "task");
  for (const pid_t thread : numbers_in(tasks)) {
    std::istringstream list(read_whole(tasks + "/" + std::to_string(thread) + "/children"));
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

/// That of any thread: a main thread that has ended shows none.
std::string read_environment(pid_t pid) {
  std::string text = read_whole(proc_path(pid, "environ"));
  if (!text.empty()) return text;
  const std::string tasks = proc_path(pid, "task");
  for (const pid_t thread : numbers_in(tasks)) {
    text = read_whole(tasks + "/" + std::to_string(thread) + "/environ");
    if (!text.empty()) break;
  }
  return text;
}

}  // namespace

std::optional<ProcessEntry> read_process(pid_t pid) {
  const std::string text = read_whole(proc_path(pid, "stat"));
  // "pid (name) state ppid ...": the name may hold anything, also ") ".
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessEntry entry;
  entry.pid = pid;
  fields >> entry.state >> entry.parent >> entry.group >> entry.session;
  std::string skipped;
  constexpr int kFieldsBetweenSessionAndThreads = 13;
  for (int i = 0; i < kFieldsBetweenSessionAndThreads; ++i) fields >> skipped;
  fields >> entry.threads >> skipped >> entry.start_ticks;
  if (!fields) return std::nullopt;
  return entry;
}

std::vector<ProcessEntry> read_process_table() {
  std::vector<ProcessEntry> table;
  for (const pid_t pid : numbers_in("/proc")) {
    if (const auto entry = read_process(pid)) table.push_back(*entry);
  }
  return table;
}

std::vector<ProcessEntry> read_process_tree(pid_t root) {
  std::vector<ProcessEntry> tree;
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const pid_t pid = open.back();
    open.pop_back();
    const auto entry = read_process(pid);
    if (!entry) continue;
    tree.push_back(*entry);
    for (const pid_t child : children_of(pid)) open.push_back(child);
  }
  return tree;
}

std::optional<std::string> environment_value(pid_t pid, std::string_view name) {
  const std::string text = read_environment(pid);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return std::string(entry.substr(name.size() + 1));
    }
  }
  return std::nullopt;
}

std::int64_t resident_bytes(pid_t pid) {
  std::istringstream fields(read_whole(proc_path(pid, "statm")));
  std::int64_t size = 0;
  std::int64_t resident_pages = 0;
  fields >> size >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

std::int64_t proportional_bytes(pid_t pid) {
  const std::string text = read_whole(proc_path(pid, "smaps_rollup"));
  const auto at = text.find("\nPss:");
  if (at == std::string::npos) return resident_bytes(pid);
  return std::strtoll(text.c_str() + at + 5, nullptr, 10) * 1024;
}

void kill_exactly(const ProcessEntry& entry) {
  const UniqueFd process = open_process(entry.pid);
  if (!process.is_open()) return;
  const auto now = read_process(entry.pid);
  if (!now || now->start_ticks != entry.start_ticks) return;
  signal_process(process, SIGKILL);
}

}  // namespace torchwatch::process
