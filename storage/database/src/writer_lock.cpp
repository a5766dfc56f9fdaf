#include "writer_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "torchwatch/database/writer.hpp"

namespace torchwatch::storage {
namespace {

constexpr std::size_t kHolderBytesMax = 200;

/// Empty where nothing can be read.
std::string read_holder(int fd) {
  std::array<char, kHolderBytesMax> text{};
  const auto size = ::pread(fd, text.data(), text.size(), 0);
  std::string holder(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder;
}

/// Returns whether the process holds the flock of the file: "1: FLOCK ADVISORY WRITE 4711
/// 08:01:1234 0 EOF" is a line of /proc/locks (proc(5)).
bool holds_flock(const std::string& pid, ino_t inode) {
  std::ifstream locks("/proc/locks");
  const auto of_inode = ":" + std::to_string(inode);
  for (std::string line; std::getline(locks, line);) {
    std::istringstream fields(line);
    std::string number;
    std::string kind;
    std::string mode;
    std::string access;
    std::string holder;
    std::string file;
    fields >> number >> kind >> mode >> access >> holder >> file;
    if (kind == "FLOCK" && holder == pid && file.ends_with(of_inode)) return true;
  }
  return false;
}

/// Serves the second writer's message alone, so the first ignores a full disk.
void write_holder(int fd) {
  const auto holder = name_of_this_process() + "\n";
  if (::ftruncate(fd, 0) != 0) return;
  if (::pwrite(fd, holder.data(), holder.size(), 0) < 0) return;
}

Error cannot_lock(const std::filesystem::path& path) {
  return Error{ErrorCode::unavailable,
               "lock file " + path.string() + " cannot be used: " + std::strerror(errno),
               "check the folder's owner and free space"};
}

}  // namespace

std::string name_of_this_process() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string command;
  std::getline(file, command);
  while (!command.empty() && command.back() == '\0') command.pop_back();
  for (char& c : command) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  const auto pid = std::to_string(::getpid());
  return (pid + " (" + command).substr(0, kHolderBytesMax - 2) + ")";
}

Result<WriterLock> WriterLock::acquire(const std::filesystem::path& database) {
  const auto path = file_of(database);
  // O_CLOEXEC: a runner that inherited the descriptor would hold the lock after this process died.
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file.is_open()) return fail(cannot_lock(path));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail(cannot_lock(path));
    const auto holder = read_holder(file.get());
    return fail(ErrorCode::conflict,
                "database " + database.string() + " is written by process " +
                    (holder.empty() ? "of another user" : holder),
                "try again when it has ended, or use another [storage] path");
  }
  write_holder(file.get());
  return WriterLock(std::move(file));
}

std::filesystem::path WriterLock::file_of(const std::filesystem::path& database) {
  return database.string() + ".lock";
}

std::optional<std::string> writer_of(const std::filesystem::path& database) {
  const auto path = WriterLock::file_of(database);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about{};
  if (!file.is_open() || ::fstat(file.get(), &about) != 0) return std::nullopt;
  auto holder = read_holder(file.get());
  if (!holds_flock(holder.substr(0, holder.find(' ')), about.st_ino)) return std::nullopt;
  return holder;
}

}  // namespace torchwatch::storage
