#include "torchwatch/executor/machine_lock.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "torchwatch/platform/publish.hpp"

namespace torchwatch::executor {
namespace {

constexpr std::string_view kPrefix = "torchwatch-machine-";
constexpr std::size_t kCommandLineShown = 200;

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
    return fail(ErrorCode::invalid,
                "invalid machine lock \"" + name + "\": must have 1 to 80 characters");
  }
  std::memcpy(address.socket.sun_path + 1, path.data(), path.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
  return address;
}

Result<UniqueFd> open_socket() {
  UniqueFd opened(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (opened.is_open()) return opened;
  return fail(ErrorCode::unavailable, std::string("machine lock: ") + std::strerror(errno));
}

/// The process that called listen(), which the kernel reports as the peer; 0 if it cannot be asked.
pid_t holder_of(const Address& address) {
  const auto asking = open_socket();
  if (!asking) return 0;
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool is_known = connect(asking->get(), address.any(), address.size) == 0 &&
                        getsockopt(asking->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return is_known ? peer.pid : 0;
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

tl::unexpected<Error> held(const Address& address) {
  const pid_t pid = holder_of(address);
  const std::string who = pid > 0
                              ? "process " + std::to_string(pid) + " (" + command_line(pid) + ")"
                              : "another process";
  return fail(ErrorCode::conflict, who + " is measuring on this machine; wait for it or stop it");
}

}  // namespace

Result<MachineLock> MachineLock::acquire(const std::string& name) {
  TW_TRY(const Address address, address_of(name));
  TW_TRY(auto holding, open_socket());
  if (bind(holding.get(), address.any(), address.size) == 0 &&
      listen(holding.get(), SOMAXCONN) == 0) {
    return MachineLock(std::move(holding));
  }
  if (errno == EADDRINUSE) return held(address);
  return fail(ErrorCode::unavailable, std::string("machine lock: ") + std::strerror(errno));
}

}  // namespace torchwatch::executor
