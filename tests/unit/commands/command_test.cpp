#include "torchwatch/commands/command.hpp"

#include <catch2/catch.hpp>
#include <sstream>

using namespace torchwatch;

TEST_CASE("a command that measures says when the defaults are used, other commands do not") {
  std::ostringstream out;
  std::ostringstream err;
  commands::Invocation invocation{.out = out, .err = err, .stop = {}};
  invocation.config_file = "/nonexistent/torchwatch.toml";
  REQUIRE(invocation.load_config());
  CHECK(err.str().empty());
  REQUIRE(invocation.load_config_to_measure());
  CHECK(err.str() == "there is no torchwatch.toml here, so the defaults are used\n");
  CHECK(out.str().empty());
}
