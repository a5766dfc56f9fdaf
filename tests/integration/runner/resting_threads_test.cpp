#include "resting_threads.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <thread>

using namespace torchwatch::runner;
using namespace std::chrono_literals;

TEST_CASE("a process with one thread is at rest") {
  REQUIRE(wait_until_others_rest(0ms));
}

TEST_CASE("a thread that waits actively is waited for, as long as is allowed") {
  std::atomic<bool> is_begun = false;
  std::atomic<bool> is_over = false;
  const std::jthread active([&] {
    is_begun = true;
    while (!is_over) {
    }
  });
  while (!is_begun) std::this_thread::yield();
  REQUIRE_FALSE(wait_until_others_rest(5ms));
  is_over = true;
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
