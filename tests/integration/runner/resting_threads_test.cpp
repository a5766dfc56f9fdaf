#include "resting_threads.hpp"

#include <catch2/catch.hpp>
#include <latch>
#include <thread>

#include "active_thread.hpp"

using namespace torchwatch;
using namespace torchwatch::runner;
using namespace std::chrono_literals;

TEST_CASE("a process with one thread is at rest") {
  REQUIRE(wait_until_others_rest(0ms));
}

TEST_CASE("a thread that waits actively is waited for, as long as is allowed") {
  test::ActiveThread active;
  REQUIRE_FALSE(wait_until_others_rest(5ms));
  active.end();
  REQUIRE(wait_until_others_rest(60s));
}

TEST_CASE("threads that sleep are at rest") {
  std::latch end(1);
  const std::jthread first([&] { end.wait(); });
  const std::jthread second([&] { end.wait(); });
  const bool rest = wait_until_others_rest(60s);
  end.count_down();
  REQUIRE(rest);
}
