#include "torchwatch/builds/tool_environment.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

namespace torchwatch::builds {
namespace {

TEST_CASE("tools see the user's settings and no secret") {
  setenv("TORCHWATCH_SOMETHING", "1", 1);
  setenv("TORCHWATCH_WEB_TOKEN", "1", 1);
  setenv("CCACHE_DIR", "/c", 1);
  setenv("AWS_SECRET_ACCESS_KEY", "1", 1);
  setenv("TORCHWATCH_FAILPOINT", "", 1);
  setenv("TORCHWATCH_PASSWD", "1", 1);
  setenv("TORCHWATCH_API_KEY", "1", 1);
  setenv("LICENCE_SERVER", "1", 1);
  const auto environment = tool_environment();
  CHECK(environment.contains("TORCHWATCH_SOMETHING"));
  CHECK(environment.contains("CCACHE_DIR"));
  CHECK(environment.contains("PATH"));
  CHECK_FALSE(environment.contains("TORCHWATCH_WEB_TOKEN"));
  CHECK_FALSE(environment.contains("AWS_SECRET_ACCESS_KEY"));
  CHECK_FALSE(environment.contains("TORCHWATCH_FAILPOINT"));
  CHECK_FALSE(environment.contains("TORCHWATCH_PASSWD"));
  CHECK_FALSE(environment.contains("TORCHWATCH_API_KEY"));
  CHECK_FALSE(environment.contains("LICENCE_SERVER"));
}

TEST_CASE("what the user names reaches the tools, whatever it sounds like") {
  setenv("TORCHWATCH_API_KEY", "1", 1);
  setenv("LICENCE_SERVER", "1", 1);
  const auto environment = tool_environment({"TORCHWATCH_API_KEY", "LICENCE_SERVER"});
  CHECK(environment.contains("TORCHWATCH_API_KEY"));
  CHECK(environment.contains("LICENCE_SERVER"));
}

}  // namespace
}  // namespace torchwatch::builds
