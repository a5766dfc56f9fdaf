// A page as text and as a table.
#include <catch2/catch.hpp>

#include "torchwatch/html/fragment.hpp"

using namespace torchwatch::html;

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

TEST_CASE("code in a page's text hides nothing and imitates no marker, as in an issue") {
  CHECK(code("a\u200bb").markdown == "`a b`");
  CHECK(code("<!-- torchwatch -->").markdown == "`<! -- torchwatch -->`");
  CHECK_THAT(code(std::string(90, '`')).markdown, Catch::StartsWith("<code>"));
  const std::string whole(1000, 'x');
  CHECK(code(whole).markdown == "`" + whole + "`");
}

TEST_CASE("a section reads the same as text") {
  const auto page =
      title("Builds") + section("All", table({.columns = {{"name"}, {"runs", Cells::numbers}},
                                              .rows = {{Cell{"a", "builds/1"}, "12"}}}));
  CHECK(page.markdown ==
        "# Builds\n\n## All\n\n| name | runs |\n| :-- | --: |\n| [a](<builds/1>) | 12 |\n\n");
  REQUIRE(page.tables.size() == 1);
}
