#include "html.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::pages;
using Catch::Contains;

TEST_CASE("text of others cannot end a cell, an attribute or a page") {
  const std::string hostile = R"(</td><script>&'"x)";
  const std::string safe = "&lt;/td&gt;&lt;script&gt;&amp;&#39;&quot;x";
  CHECK(html_text(hostile) == safe);
  for (const auto cells : {Cells::texts, Cells::words, Cells::numbers, Cells::states}) {
    const auto table = html_table({{hostile, cells}}, {{hostile}});
    CHECK_THAT(table, !Contains("<script>") && Contains(">" + safe + "<"));
  }
  CHECK_THAT(html_page(hostile, "", ""), Contains("<title>" + safe + "</title>"));
}

TEST_CASE("a cell names its column, a number stands to the right, a state is a word") {
  const auto table = html_table({{"title"}, {"series", Cells::numbers}, {"state", Cells::states}},
                                {{"a", "12", "open"}});
  CHECK_THAT(table, Contains(R"(<td data-column="title">a</td>)"));
  CHECK_THAT(table, Contains(R"(<th scope="col" class="number">series</th>)"));
  CHECK_THAT(table, Contains(R"(<td class="number" data-column="series">12</td>)"));
  CHECK_THAT(table,
             Contains(R"(<td data-column="state"><span class="state open">open</span></td>)"));
}

TEST_CASE("a cell without a state stays empty") {
  CHECK_THAT(html_table({{"state", Cells::states}}, {{""}, {"open"}}),
             Contains(R"(<td data-column="state"></td>)"));
}

TEST_CASE("a column in which no row has anything is left out") {
  const auto table = html_table({{"workload"}, {"runs"}}, {{"dlrm", ""}, {"bert", ""}});
  CHECK_THAT(table, Contains("workload") && !Contains("runs"));
}

TEST_CASE("a date or a name does not break at its dashes, and a command reads as code") {
  CHECK(html_prose("2026-06-17 against a - b") ==
        "<span class=\"whole\">2026-06-17</span> against a - b");
  CHECK(html_prose("-12.9 % of it") == "-12.9 % of it");
  const std::string path(40, 'a');
  CHECK(html_prose(path + "-b") == path + "-b");
  CHECK(html_prose("see `torchwatch outbox list` <now>") ==
        "see <code>torchwatch outbox list</code> &lt;now&gt;");
  CHECK(html_prose("a ` alone") == "a ` alone");
}

TEST_CASE("a page fits narrow screens and takes nothing but its style sheet") {
  const auto page = html_page("torchwatch", "<p>body</p>\n", "../");
  CHECK_THAT(page, Contains("width=device-width") && Contains("<p>body</p>"));
  CHECK_THAT(page, Contains(R"(href="../style.css")") && !Contains("//") && !Contains("<script"));
}

TEST_CASE("a link quotes its address and its text, and needs an address") {
  CHECK(html_link("a?b=1&before=\"3\"", "<x>") ==
        "<a href=\"a?b=1&amp;before=&quot;3&quot;\">&lt;x&gt;</a>");
  CHECK(html_link("", "<x>") == "&lt;x&gt;");
}

TEST_CASE("a cell may be a link with plain text behind it, and an empty fact is left out") {
  const auto table = html_table({{"culprit"}}, {{Cell{"5d1c", "commit/5d1c", "<twice>"}}});
  CHECK_THAT(table, Contains("<span><a href=\"commit/5d1c\">5d1c</a> &lt;twice&gt;</span>"));
  CHECK_THAT(html_facts({{"a", "1"}, {"b", ""}}),
             Contains("<dt>a</dt><dd>1</dd>") && !Contains("<dt>b"));
}
