#include "torchwatch/platform/unix_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace torchwatch::platform {
namespace {

constexpr std::size_t kAddressBytesMax = sizeof(sockaddr_un::sun_path) - 1;
constexpr int kWaitingMax = 64;

sockaddr_un address_of(const SocketFile& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto text = file.address();
  std::memcpy(static_cast<char*>(address.sun_path), text.data(), text.size());
  return address;
}

Error error_of(ErrorCode code, const SocketFile& file, const std::string& what,
               const std::string& remedy = {}) {
  return Error{code, "socket " + file.path().string() + ": " + what, remedy};
}

UniqueFd new_socket() {
  return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// For a client these are the credentials of the process that called listen().
pid_t process_of(int connected) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

}  // namespace

Result<SocketFile> SocketFile::open(const std::filesystem::path& path) {
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  UniqueFd opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) {
    const bool is_missing = errno == ENOENT || errno == ENOTDIR;
    return fail(
        is_missing ? ErrorCode::not_found : ErrorCode::unavailable,
        "folder " + folder.string() + " of socket " + path.string() + ": " + std::strerror(errno));
  }
  SocketFile file(path, std::move(opened));
  if (path.has_filename() && file.address().size() <= kAddressBytesMax) return file;
  return fail(error_of(ErrorCode::invalid, file, "must have a name of 1 to 80 bytes"));
}

std::string SocketFile::address() const {
  if (path_.native().size() <= kAddressBytesMax) return path_.native();
  return "/proc/self/fd/" + std::to_string(folder_.get()) + "/" + path_.filename().native();
}

Result<std::optional<pid_t>> SocketFile::listener() const {
  struct stat found{};
  const auto name = path_.filename();
  if (fstatat(folder_.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::optional<pid_t>();
    return fail(error_of(ErrorCode::unavailable, *this, std::strerror(errno)));
  }
  if (!S_ISSOCK(found.st_mode)) {
    return fail(error_of(ErrorCode::invalid, *this, "another file has this name",
                         "remove it, or set [web] socket"));
  }
  const auto socket = new_socket();
  const auto address = address_of(*this);
  // Full queue (EAGAIN): somebody listens, too busy to be asked which process it is.
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno == EAGAIN) {
    return std::optional<pid_t>(process_of(socket.get()));
  }
  if (errno == ECONNREFUSED || errno == ENOENT) return std::optional<pid_t>();
  return fail(error_of(
      ErrorCode::unavailable, *this,
      errno == EACCES ? "only its owner and its group may connect to it" : std::strerror(errno)));
}

Result<ListeningSocket> ListeningSocket::open(const std::filesystem::path& path) {
  TW_TRY(auto file, SocketFile::open(path));
  TW_TRY(const auto listener, file.listener());
  if (listener) {
    return fail(error_of(ErrorCode::conflict, file,
                         (*listener == 0 ? "a process that cannot be seen from here"
                                         : "process " + std::to_string(*listener)) +
                             " listens on it",
                         "stop that one, or set another [web] socket"));
  }
  const auto name = path.filename();
  const int folder = file.folder_.get();
  unlinkat(folder, name.c_str(), 0);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = address_of(file);
  struct stat made{};
  // Nobody can connect before listen(), so no mode but the last one ever decides.
  const bool is_listening =
      bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      fchmodat(folder, name.c_str(), 0660, AT_SYMLINK_NOFOLLOW) == 0 &&
      fstatat(folder, name.c_str(), &made, AT_SYMLINK_NOFOLLOW) == 0 &&
      listen(socket.get(), kWaitingMax) == 0;
  if (is_listening) return ListeningSocket(std::move(file), std::move(socket), made.st_ino);
  const auto code = errno == EADDRINUSE ? ErrorCode::conflict : ErrorCode::unavailable;
  return fail(error_of(code, file, std::strerror(errno)));
}

ListeningSocket::~ListeningSocket() {
  shut();
}

void ListeningSocket::shut() {
  if (!socket_.is_open()) return;
  const auto name = file_.path_.filename();
  struct stat found{};
  const int folder = file_.folder_.get();
  if (fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_ino == inode_) {
    unlinkat(folder, name.c_str(), 0);
  }
  shutdown(socket_.get(), SHUT_RDWR);
}

}  // namespace torchwatch::platform
