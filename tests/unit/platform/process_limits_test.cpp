#include "torchwatch/platform/process_limits.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>

using torchwatch::platform::raise_open_files;

namespace {

/// Puts the limit of the test's process back.
struct Limit {
  Limit() { REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0); }
  ~Limit() { setrlimit(RLIMIT_NOFILE, &before); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

  void set(rlim_t now) const {
    const rlimit changed{.rlim_cur = now, .rlim_max = before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &changed) == 0);
  }
  static rlim_t now() {
    rlimit limit{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    return limit.rlim_cur;
  }

  rlimit before{};
};

}  // namespace

TEST_CASE("the number of open files is raised as far as it may be, and never lowered") {
  const Limit limit;
  limit.set(64);
  CHECK(raise_open_files(100) == 100);
  CHECK(Limit::now() == 100);
  CHECK(raise_open_files(80) == 100);
  CHECK(Limit::now() == 100);
  CHECK(raise_open_files(RLIM_INFINITY) == limit.before.rlim_max);
  CHECK(Limit::now() == limit.before.rlim_max);
}
