#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <variant>
#include <vector>

#include "skipped.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::test {

/// A socket of loopback that listens.
struct Listener {
  UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int port = 0;
  Listener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(bind(socket.get(), any, size) == 0);
    REQUIRE(listen(socket.get(), 8) == 0);
    REQUIRE(getsockname(socket.get(), any, &size) == 0);
    port = ntohs(address.sin_port);
  }
};

/// Programs, each with its arguments, that call the next one as somebody else.
using Caller = std::vector<std::string>;

inline Caller as_nobody() {
  return {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--"};
}

/// As root, where no user namespace can be made.
inline Caller without_user_namespaces() {
  return {"unshare", "--user", "--map-root-user",
          "sh",      "-c",     "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"",
          "sh"};
}

inline bool is_exit(const process::ProcessOutcome& outcome, int code) {
  const auto* const exited = std::get_if<process::Exited>(&outcome.end);
  return exited != nullptr && exited->code == code;
}

inline bool may_play_others() {
  if (geteuid() == 0) return true;
  say_skipped("only root can run it as somebody else");
  return false;
}

}  // namespace torchwatch::test
