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
  const auto environment = tool_environment();
  CHECK(environment.contains("TORCHWATCH_SOMETHING"));
  CHECK(environment.contains("CCACHE_DIR"));
  CHECK(environment.contains("PATH"));
  CHECK_FALSE(environment.contains("TORCHWATCH_WEB_TOKEN"));
  CHECK_FALSE(environment.contains("AWS_SECRET_ACCESS_KEY"));
  CHECK_FALSE(environment.contains("TORCHWATCH_FAILPOINT"));
}

}  // namespace
}  // namespace torchwatch::builds
