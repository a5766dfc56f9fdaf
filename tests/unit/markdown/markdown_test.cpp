#include "torchwatch/markdown/markdown.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::report;
using Catch::Contains;

TEST_CASE("text of others has no markup in Markdown and mentions nobody") {
  const auto safe = prose("*a* [x](http://x) <b> | @ada #12 _c_");
  CHECK_THAT(safe, Contains("\\*a\\*") && Contains("\\[x\\]") && Contains("&lt;b\\>") &&
                       Contains("\\|") && Contains("\\#12") && !Contains("@ada"));
  CHECK(prose("a\nb") == "a b");
  CHECK(prose("run `x --y`") == "run `x --y`");
}

TEST_CASE("no backquote in a text ends its block or its code") {
  CHECK_THAT(block("```\n# x\n"), Catch::StartsWith("````\n"));
  CHECK(code("a`b") == "``a`b``");
  CHECK(code("`") == "`` ` ``");
}
