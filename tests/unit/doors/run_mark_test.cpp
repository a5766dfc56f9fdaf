#include "run_mark.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace torchwatch::doors;

TEST_CASE("a run's mark survives being written, and has one width whatever its numbers") {
  const RunMark marks[] = {
      {.daemon = 1, .daemon_start_ticks = 2, .serial = 3},
      {.daemon = std::numeric_limits<pid_t>::max(),
       .daemon_start_ticks = std::numeric_limits<std::uint64_t>::max(),
       .serial = std::numeric_limits<std::uint32_t>::max()},
  };
  for (const RunMark& mark : marks) {
    const std::string text = to_string(mark);
    CHECK(text.size() == 42);
    const auto parsed = parse_run_mark(text);
    REQUIRE(parsed);
    CHECK(parsed->daemon == mark.daemon);
    CHECK(parsed->daemon_start_ticks == mark.daemon_start_ticks);
    CHECK(parsed->serial == mark.serial);
  }
}

TEST_CASE("what is not a mark is not read as one") {
  for (const char* const text : {"", "1-2-3", "0000000001-00000000000000000002-00000000x3",
                                 "0000000001x00000000000000000002-0000000003"}) {
    CHECK_FALSE(parse_run_mark(text));
  }
}
