// A page as text and as a table.
#include <catch2/catch.hpp>

#include "torchwatch/html/fragment.hpp"
#include "torchwatch/html/quoting.hpp"

using namespace torchwatch::html;
using Catch::Contains;

TEST_CASE("a cell that a spreadsheet would carry out begins with an apostrophe") {
  for (const std::string begin : {"=", "+", "-", "@", "\t"}) {
    const auto csv = csv_of({.columns = {{"a"}}, .rows = {{begin + "cmd|' /C calc'!A0"}}});
    INFO(csv);
    CHECK_THAT(csv, Catch::StartsWith("a\r\n\"'" + begin));
  }
}

TEST_CASE("commas, quotation marks and line breaks stay in their cell") {
  CHECK(csv_of({.columns = {{"a,b"}, {"c"}}, .rows = {{"say \"x\"", "1\n2"}, {"", "3"}}}) ==
        "\"a,b\",c\r\n\"say \"\"x\"\"\",\"1\n2\"\r\n,3\r\n");
}

TEST_CASE("a table as CSV has all columns, and the text behind a link") {
  CHECK(csv_of({.columns = {{"name"}, {"reason"}}, .rows = {{Cell{"a", "b", "c"}, ""}}}) ==
        "name,reason\r\na c,\r\n");
}

TEST_CASE("text of others has no markup in Markdown and mentions nobody") {
  const auto safe = markdown_prose("*a* [x](http://x) <b> | @ada #12 _c_");
  CHECK_THAT(safe, Contains("\\*a\\*") && Contains("\\[x\\]") && Contains("&lt;b\\>") &&
                       Contains("\\|") && Contains("\\#12") && !Contains("@ada"));
  CHECK(markdown_prose("a\nb") == "a b");
  CHECK(markdown_prose("run `x --y`") == "run `x --y`");
}

TEST_CASE("no backquote in a text ends its block or its code") {
  CHECK_THAT(markdown_block("```\n# x\n"), Catch::StartsWith("````\n"));
  CHECK(markdown_code("a`b") == "``a`b``");
  CHECK(markdown_code("`") == "`` ` ``");
}

TEST_CASE("a section reads the same as text") {
  const auto page =
      title("Builds") + section("All", table({.columns = {{"name"}, {"runs", Cells::numbers}},
                                              .rows = {{Cell{"a", "builds/1"}, "12"}}}));
  CHECK(page.markdown ==
        "# Builds\n\n## All\n\n| name | runs |\n| :-- | --: |\n| [a](<builds/1>) | 12 |\n\n");
  REQUIRE(page.tables.size() == 1);
}
