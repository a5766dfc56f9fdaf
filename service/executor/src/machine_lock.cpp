#include "torchwatch/executor/machine_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "torchwatch/platform/publish.hpp"
#include "torchwatch/platform/user.hpp"

namespace torchwatch::executor {
namespace {

constexpr std::string_view kPrefix = "torchwatch-machine-";
constexpr std::size_t kCommandLineShown = 200;
constexpr mode_t kFileMode = 0660;

struct Address {
  sockaddr_un socket{};
  socklen_t size = 0;
  const sockaddr* any() const { return reinterpret_cast<const sockaddr*>(&socket); }
};

/// The address is abstract: the first byte of the path is zero, so no folder holds the name.
Result<Address> address_of(const std::string& name) {
  const std::string path = std::string(kPrefix) + name;
  Address address;
  address.socket.sun_family = AF_UNIX;
  if (name.empty() || path.size() >= sizeof(address.socket.sun_path)) {
    return fail(ErrorCode::invalid, "invalid machine lock \"" + name +
                                        "\": must have 1 to 80 characters, or be an absolute path");
  }
  std::memcpy(address.socket.sun_path + 1, path.data(), path.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
  return address;
}

tl::unexpected<Error> unusable(const std::string& name) {
  return fail(ErrorCode::unavailable,
              "[executor] machine_lock " + name + " cannot be used: " + std::strerror(errno));
}

Result<UniqueFd> open_socket() {
  UniqueFd opened(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (opened.is_open()) return opened;
  return unusable("");
}

struct Holder {
  pid_t pid = 0;
  uid_t user = 0;
};

/// The process that called listen(), which the kernel reports as the peer, if it can be asked.
std::optional<Holder> holder_of(const Address& address) {
  const auto asking = open_socket();
  if (!asking) return std::nullopt;
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool is_known = connect(asking->get(), address.any(), address.size) == 0 &&
                        getsockopt(asking->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return is_known ? std::optional(Holder{.pid = peer.pid, .user = peer.uid}) : std::nullopt;
}

/// The process whose number the holder wrote into the file, and that file's owner.
std::optional<Holder> holder_of(int file) {
  constexpr std::size_t kDigitsMax = 10;
  std::array<char, kDigitsMax> digits{};
  struct stat about{};
  const auto size = pread(file, digits.data(), digits.size(), 0);
  pid_t pid = 0;
  if (size <= 0) return std::nullopt;
  if (std::from_chars(digits.data(), digits.data() + size, pid).ec != std::errc{})
    return std::nullopt;
  // The folder of a process belongs to the user as whom it runs.
  const auto folder = "/proc/" + std::to_string(pid);
  if (stat(folder.c_str(), &about) != 0) return Holder{.pid = pid, .user = geteuid()};
  return Holder{.pid = pid, .user = about.st_uid};
}

std::string command_line(pid_t pid) {
  constexpr std::size_t kBytesMax = 4U << 20U;
  auto line = platform::read_file("/proc/" + std::to_string(pid) + "/cmdline", kBytesMax)
                  .value_or("command line unknown");
  while (!line.empty() && line.back() == '\0') line.pop_back();
  std::replace(line.begin(), line.end(), '\0', ' ');
  if (line.size() > kCommandLineShown) line = line.substr(0, kCommandLineShown) + " ...";
  return line;
}

tl::unexpected<Error> held_by(const std::optional<Holder>& holder) {
  if (!holder) {
    return fail(ErrorCode::conflict, "another process is measuring on this machine");
  }
  const bool is_trusted = holder->user == 0 || holder->user == geteuid();
  return fail(
      is_trusted ? ErrorCode::conflict : ErrorCode::unavailable,
      "process " + std::to_string(holder->pid) + " of " + platform::user_name(holder->user) + " (" +
          command_line(holder->pid) + ") is measuring on this machine" +
          (is_trusted ? ""
                      : ": wait for it, or set [executor] machine_lock to a file of your own"));
}

Result<UniqueFd> hold_socket(const std::string& name) {
  TW_TRY(const Address address, address_of(name));
  TW_TRY(auto holding, open_socket());
  if (bind(holding.get(), address.any(), address.size) == 0 &&
      listen(holding.get(), SOMAXCONN) == 0) {
    return holding;
  }
  if (errno == EADDRINUSE) return held_by(holder_of(address));
  return unusable(name);
}

/// Opens the file, or makes it so that its group may hold the lock, whatever the umask is. One that
/// somebody else has made keeps the mode that it was given.
UniqueFd open_file(const std::string& path) {
  // O_CLOEXEC: a run that inherited the descriptor would hold the lock after this process died.
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  UniqueFd made(open(path.c_str(), kFlags | O_CREAT | O_EXCL, kFileMode));
  if (made.is_open() && fchmod(made.get(), kFileMode) == 0) return made;
  return UniqueFd(open(path.c_str(), kFlags));
}

Result<UniqueFd> hold_file(const std::string& path) {
  UniqueFd file = open_file(path);
  if (!file.is_open()) return unusable(path);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return held_by(holder_of(file.get()));
    return unusable(path);
  }
  const auto pid = std::to_string(getpid()) + "\n";
  const bool is_named =
      ftruncate(file.get(), 0) == 0 && pwrite(file.get(), pid.data(), pid.size(), 0) > 0;
  if (!is_named) return unusable(path);
  return file;
}

}  // namespace

Result<MachineLock> MachineLock::acquire(const std::string& name) {
  TW_TRY(auto held, name.starts_with('/') ? hold_file(name) : hold_socket(name));
  return MachineLock(std::move(held));
}

}  // namespace torchwatch::executor
