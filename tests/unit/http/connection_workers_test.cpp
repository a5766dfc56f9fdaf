#include "connection_workers.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <future>
#include <system_error>

using namespace torchwatch::http;

namespace {

/// Starts `left` threads, then none any more.
struct Spawner {
  std::thread operator()(std::function<void()> work) {
    if (left-- <= 0) throw std::system_error(EAGAIN, std::generic_category());
    return std::thread(std::move(work));
  }
  int& left;
};

std::unique_ptr<Client> a_client(Admission& admission) {
  std::array<int, 2> pair{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) == 0);
  close(pair[1]);
  return std::make_unique<Client>(Admission::Connection(admission, pair[0], "a"), Origin{}, 1);
}

}  // namespace

TEST_CASE("where fewer threads can be had, those there are serve") {
  Admission admission(9, 9);
  std::promise<void> served;
  int left = 1;
  ConnectionWorkers workers(4, [&](auto) { served.set_value(); }, Spawner{left});
  CHECK(workers.missing() == 3);
  auto client = a_client(admission);
  CHECK(workers.add(client));
  served.get_future().wait();
}

TEST_CASE("where no thread can be had, a client stays with who brought it") {
  Admission admission(9, 9);
  int left = 0;
  ConnectionWorkers workers(4, [](auto) { FAIL("nobody can serve"); }, Spawner{left});
  auto client = a_client(admission);
  CHECK_FALSE(workers.add(client));
  CHECK(client);
}
