#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::platform {

/// The file of a Unix socket. Its folder stays open, because the kernel takes at most 107 bytes of
/// path: a longer one is reached through the open folder.
class SocketFile {
 public:
  /// Opens the folder; the file need not exist. Errors: not_found (no such folder), invalid (no
  /// name, or one that is too long), unavailable.
  static Result<SocketFile> open(const std::filesystem::path&);

  const std::filesystem::path& path() const { return path_; }
  /// Returns where bind and connect find the file; valid as long as this object.
  std::string address() const;
  /// Returns the process that listens on the socket, 0 if it cannot be seen from here; nothing if
  /// nobody listens: there is no file, or a dead process left it. Errors: invalid (not a
  /// socket), unavailable (no permission).
  Result<std::optional<pid_t>> listener() const;

 private:
  friend class ListeningSocket;
  SocketFile(std::filesystem::path path, UniqueFd folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}

  std::filesystem::path path_;
  UniqueFd folder_;
};

/// A Unix socket that listens. Its file has mode 0660, whatever the umask: who may write to it may
/// connect.
class ListeningSocket {
 public:
  /// Makes the socket; the file that a dead process left is replaced. Errors: conflict (another
  /// process listens, which the message names), and those of SocketFile.
  static Result<ListeningSocket> open(const std::filesystem::path&);
  ListeningSocket(ListeningSocket&&) noexcept = default;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ~ListeningSocket();

  int get() const { return socket_.get(); }
  /// Removes the file, unless it is another process's by now, and ends every `accept` that waits.
  void shut();

 private:
  ListeningSocket(SocketFile file, UniqueFd socket, ino_t inode)
      : file_(std::move(file)), socket_(std::move(socket)), inode_(inode) {}

  SocketFile file_;
  UniqueFd socket_;
  ino_t inode_;
};

}  // namespace torchwatch::platform
