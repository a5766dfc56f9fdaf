#include "process_tag.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace torchwatch::process;

TEST_CASE("a child's tag survives being written, and has one width whatever its numbers") {
  const ProcessTag tags[] = {
      {.daemon = 1, .daemon_start_ticks = 2, .serial = 3},
      {.daemon = std::numeric_limits<pid_t>::max(),
       .daemon_start_ticks = std::numeric_limits<std::uint64_t>::max(),
       .serial = std::numeric_limits<std::uint32_t>::max()},
  };
  for (const ProcessTag& tag : tags) {
    const std::string text = to_string(tag);
    CHECK(text.size() == 42);
    const auto parsed = parse_process_tag(text);
    REQUIRE(parsed);
    CHECK(parsed->daemon == tag.daemon);
    CHECK(parsed->daemon_start_ticks == tag.daemon_start_ticks);
    CHECK(parsed->serial == tag.serial);
  }
}

TEST_CASE("other text is not read as a tag") {
  for (const char* const text : {"", "1-2-3", "0000000001-00000000000000000002-00000000x3",
                                 "0000000001x00000000000000000002-0000000003"}) {
    CHECK_FALSE(parse_process_tag(text));
  }
}
