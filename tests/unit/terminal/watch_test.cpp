#include "torchwatch/terminal/watch.hpp"

#include <catch2/catch.hpp>
#include <sstream>
#include <vector>

#include "fake_clock.hpp"

using namespace torchwatch;
using namespace torchwatch::terminal;

namespace {

/// Sees one after the other, and stops when all are seen.
std::string watched(const std::vector<Sight>& sights, const Screen& screen) {
  std::ostringstream out;
  const test::FakeClock clock;
  std::stop_source stop;
  std::size_t next = 0;
  const auto look = [&]() -> Result<Sight> {
    if (next + 1 == sights.size()) stop.request_stop();
    return sights.at(next++);
  };
  REQUIRE(watch(out, screen, clock, look, stop.get_token()));
  return out.str();
}

const Screen kTerminal{.rows = 4, .is_terminal = true, .key = "key"};

}  // namespace

TEST_CASE("a terminal gets the text drawn anew when it has changed") {
  const auto out = watched({{"one\n", "a"}, {"one\n", "b"}, {"two\n", "b"}}, kTerminal);
  CHECK(out == redrawing(kTerminal) + "one\n" + redrawing(kTerminal) + "two\n");
}

TEST_CASE("what does not fit the window is left out below") {
  CHECK(watched({{"1\n2\n3\n4\n5\n", ""}}, kTerminal) == redrawing(kTerminal) + "1\n2\n3\n");
  CHECK(watched({{"1\n2\n3", ""}}, kTerminal) == redrawing(kTerminal) + "1\n2\n3");
}

TEST_CASE("a file or pipe gets a line with its time when the line has changed") {
  const auto out = watched({{"x", "well"}, {"y", "well"}, {"z", "ill"}}, {});
  CHECK(out == "2026-08-16T03:04:05Z  well\n2026-08-16T03:04:09Z  ill\n");
}

TEST_CASE("an error ends the watch, and a stop before it shows nothing") {
  std::ostringstream out;
  const test::FakeClock clock;
  const auto look = []() -> Result<Sight> { return fail(ErrorCode::not_found, "no database"); };
  CHECK(watch(out, {}, clock, look, {}).error().message == "no database");
  std::stop_source stop;
  stop.request_stop();
  CHECK(watch(out, {}, clock, look, stop.get_token()));
  CHECK(out.str().empty());
}
