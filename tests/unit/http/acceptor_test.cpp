#include "acceptor.hpp"

#include <catch2/catch.hpp>
#include <cerrno>

using namespace torchwatch;
using namespace torchwatch::http;

TEST_CASE("a port that is taken is a conflict, a foreign address is invalid") {
  const auto socket = listen_on("127.0.0.1", 0);
  REQUIRE(socket);
  const int port = port_of(socket->get());
  CHECK(port > 0);
  CHECK(listen_on("127.0.0.1", port).error().code == ErrorCode::conflict);
  CHECK(listen_on("192.0.2.1", 0).error().code == ErrorCode::invalid);
  CHECK(listen_on("not-an-address", 0).error().code == ErrorCode::invalid);
}

TEST_CASE("an error of accept is about one client, about what is used up, or about the socket") {
  for (const int error : {ECONNABORTED, EPROTO, EINTR, ENETDOWN, EHOSTUNREACH, EPERM}) {
    CHECK(accept_error_of(error) == AcceptError::client_gone);
  }
  for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM}) {
    CHECK(accept_error_of(error) == AcceptError::used_up);
  }
  for (const int error : {EBADF, EINVAL, ENOTSOCK}) {
    CHECK(accept_error_of(error) == AcceptError::broken);
  }
  CHECK(accept_error_of(EAGAIN) == AcceptError::nobody_waits);
}
