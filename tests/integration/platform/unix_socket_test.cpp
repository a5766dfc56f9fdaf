#include "torchwatch/platform/unix_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "temporary_folder.hpp"

using namespace torchwatch;
using namespace torchwatch::platform;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

struct Umask {
  explicit Umask(mode_t mask) : before(umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { umask(before); }
  mode_t before;
};

/// What a process that was killed leaves: a socket's file, and nobody behind it.
void leave_stale(const fs::path& path) {
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(static_cast<char*>(address.sun_path), path.c_str(), path.native().size());
  REQUIRE(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}

std::optional<pid_t> listener_of(const fs::path& path) {
  return SocketFile::open(path).value().listener().value();
}

}  // namespace

TEST_CASE("a socket's file has mode 0660 whatever the umask, and is gone after its end") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "control";
  for (const mode_t mask : {0077U, 0000U}) {
    const Umask narrowed(mask);
    const auto socket = ListeningSocket::open(path).value();
    CHECK((fs::status(path).permissions() & fs::perms::mask) == fs::perms{0660});
    CHECK(listener_of(path) == getpid());
  }
  CHECK_FALSE(fs::exists(path));
  CHECK(listener_of(path) == std::nullopt);
}

TEST_CASE("the socket that a dead process left is replaced") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "control";
  leave_stale(path);
  CHECK(listener_of(path) == std::nullopt);
  const auto socket = ListeningSocket::open(path);
  REQUIRE(socket);
  CHECK(listener_of(path) == getpid());
}

TEST_CASE("a socket on which a process listens is left to it, and the process is named") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "control";
  const auto first = ListeningSocket::open(path).value();
  const auto second = ListeningSocket::open(path);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::conflict);
  CHECK_THAT(second.error().text(),
             Contains(path.string()) && Contains("process " + std::to_string(getpid())));
  CHECK(listener_of(path) == getpid());
}

TEST_CASE("a path longer than the kernel takes is reached through its folder") {
  const test::TemporaryFolder folder;
  const auto deep = folder.path() / std::string(80, 'a') / std::string(80, 'b');
  fs::create_directories(deep);
  const auto path = deep / "control";
  {
    const auto socket = ListeningSocket::open(path).value();
    CHECK(fs::is_socket(path));
    CHECK(listener_of(path) == getpid());
  }
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a file that is not a socket is never removed") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("control", "precious");
  const auto socket = ListeningSocket::open(path);
  REQUIRE_FALSE(socket);
  CHECK(socket.error().code == ErrorCode::invalid);
  CHECK(fs::file_size(path) == 8);
}

TEST_CASE("the socket of the process that came after is not removed") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "control";
  std::optional<ListeningSocket> late;
  {
    const auto early = ListeningSocket::open(path).value();
    fs::remove(path);
    late.emplace(ListeningSocket::open(path).value());
  }
  CHECK(listener_of(path) == getpid());
}

TEST_CASE("a folder that is not there and a name without end are errors that name the path") {
  const test::TemporaryFolder folder;
  const auto nowhere = SocketFile::open(folder.path() / "nowhere" / "control");
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().code == ErrorCode::not_found);
  CHECK_THAT(nowhere.error().message, Contains("nowhere"));
  CHECK(SocketFile::open(folder.path() / std::string(120, 'x')).error().code == ErrorCode::invalid);
}
