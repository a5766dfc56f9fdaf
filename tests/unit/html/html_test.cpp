#include <catch2/catch.hpp>

#include "torchwatch/html/choices.hpp"
#include "torchwatch/html/page.hpp"
#include "torchwatch/html/quoting.hpp"

using namespace torchwatch::html;
using Catch::Contains;

namespace {

std::string html_of(Table of) {
  return table(std::move(of)).html;
}

}  // namespace

TEST_CASE("text of others cannot end a cell, an attribute or a page") {
  const std::string hostile = R"(</td><script>&'"x)";
  const std::string safe = "&lt;/td&gt;&lt;script&gt;&amp;&#39;&quot;x";
  CHECK(escaped(hostile) == safe);
  for (const auto cells :
       {Cells::texts, Cells::phrases, Cells::words, Cells::numbers, Cells::states}) {
    const auto html = html_of({.columns = {{hostile, cells}}, .rows = {{hostile}}});
    CHECK_THAT(html, !Contains("<script>") && Contains(">" + safe + "<"));
  }
  const auto page = page_of({.title = hostile, .searched = hostile}, {});
  CHECK_THAT(page, Contains("<title>" + safe + "</title>") && Contains("value=\"" + safe + "\""));
}

TEST_CASE("text of others stays text in every piece of a page") {
  const std::string hostile = "<img src=x onerror=alert(1)>";
  const auto all = text(hostile) + link("a?b=" + hostile, hostile) + state(hostile) +
                   code(hostile) + title(hostile) + paragraph(text(hostile), hostile) +
                   block(hostile, text(hostile)) + list({text(hostile)}) +
                   facts({{hostile, hostile}}) + section(hostile, text(hostile), hostile) +
                   details(hostile, text(hostile)) + code_block(hostile) +
                   figure("<svg></svg>", hostile, hostile, {});
  CHECK_THAT(all.html, !Contains("<img"));
}

TEST_CASE("a cell names its column, a number stands to the right, a state is a word") {
  const auto html =
      html_of({.columns = {{"title"}, {"series", Cells::numbers}, {"state", Cells::states}},
               .rows = {{"a", "12", "open"}}});
  CHECK_THAT(html, Contains(R"(<td data-column="title">a</td>)"));
  CHECK_THAT(html, Contains(R"(<th scope="col" class="number">series</th>)"));
  CHECK_THAT(html, Contains(R"(<td class="number" data-column="series">12</td>)"));
  CHECK_THAT(html,
             Contains(R"(<td data-column="state"><span class="state open">open</span></td>)"));
}

TEST_CASE("cells of a column say whether they may break, and where") {
  const auto html = html_of({.columns = {{"commits", Cells::phrases}, {"day", Cells::words}},
                             .rows = {{"a to b", "2026-11-20"}}});
  CHECK_THAT(html, Contains(R"(<td class="phrase" data-column="commits">a to b</td>)"));
  CHECK_THAT(html, Contains(R"(<td class="word" data-column="day">)"));
}

TEST_CASE("a cell without a state stays empty") {
  CHECK_THAT(html_of({.columns = {{"state", Cells::states}}, .rows = {{""}, {"open"}}}),
             Contains(R"(<td data-column="state"></td>)"));
}

TEST_CASE("a column in which no row has anything is left out") {
  const auto html =
      html_of({.columns = {{"workload"}, {"runs"}}, .rows = {{"dlrm", ""}, {"bert", ""}}});
  CHECK_THAT(html, Contains("workload") && !Contains("runs"));
}

TEST_CASE("a date or a name does not break at its dashes, and a command reads as code") {
  CHECK(escaped_prose("2026-06-17 against a - b") ==
        "<span class=\"whole\">2026-06-17</span> against a - b");
  const std::string path(40, 'a');
  CHECK(escaped_prose(path + "-b") == path + "-b");
  CHECK(escaped_prose("see `torchwatch outbox list` <now>") ==
        "see <code>torchwatch outbox list</code> &lt;now&gt;");
  CHECK(escaped_prose("a ` alone") == "a ` alone");
}

TEST_CASE("a figure keeps its unit beside it, and an interval its ends") {
  CHECK(escaped_prose("-12.9 % of it, 5 h 12 min ago, 41.2 ms.") ==
        "-12.9\u00a0% of it, 5\u00a0h 12\u00a0min ago, 41.2\u00a0ms.");
  CHECK(escaped_prose("(+14.9 % [+13.5, +16.3] %)") == "(+14.9\u00a0% [+13.5,\u00a0+16.3]\u00a0%)");
  CHECK(escaped_prose("over 77 models, a % sign, 3 of 4") == "over 77 models, a % sign, 3 of 4");
  CHECK(text("-12.9 % of it").markdown == "-12.9 % of it");
  CHECK(escaped_prose("1f0c1..abc12, a...b, ../x, wait..") ==
        "1f0c1..<wbr>abc12, a...b, ../x, wait..");
}

TEST_CASE("a page fits narrow screens and takes nothing but its style sheet") {
  const auto page = page_of({.title = "torchwatch", .root = "../"}, paragraph(text("body")));
  CHECK_THAT(page, Contains("width=device-width") && Contains("<p>body</p>"));
  CHECK_THAT(page, Contains(R"(href="../style.css")") && !Contains("//") && !Contains("<script") &&
                       !Contains("style="));
}

TEST_CASE("a page loads the script from the folder that it is given, and nothing inline") {
  const auto page = page_of({.title = "a", .root = "../", .assets = "../assets/5d1c/"}, title("a"));
  CHECK_THAT(page,
             Contains(R"(<script src="../assets/5d1c/theme.js"></script>)") &&
                 Contains(R"(<script type="module" src="../assets/5d1c/main.js"></script>)") &&
                 Contains(R"(href="../assets/5d1c/script.css")"));
}

TEST_CASE("a cell has the number behind its words, and a link its relation") {
  Cell value{"41.2 ms"};
  value.exact = "41234567.5";
  const auto html = html_of({.columns = {{"time", Cells::numbers, "", "1.07"}, {"n"}},
                             .rows = {{value, Cell{"1,234", 1234.0}}}});
  CHECK_THAT(html, Contains(R"(<th scope="col" class="number" data-value="1.07">)") &&
                       Contains("data-column=\"time\" data-value=\"41234567.5\">41.2\u00a0ms") &&
                       Contains(R"(data-value="1234">1,234)"));
  CHECK(torchwatch::html::link("a", "older", "prev").html ==
        "<a href=\"a\" rel=\"prev\">older</a>");
}

TEST_CASE("a page has a language, a way past its bar, and says where the reader is") {
  const auto page = page_of({.title = "Builds",
                             .bar = {{"./", "Tonight"}, {"builds", "Builds"}},
                             .current = "Builds",
                             .way = {{"./", "Tonight"}, {"", "Builds"}},
                             .alternates = {{"text/csv", "builds.csv?a=1&b=2"}}},
                            title("Builds"));
  CHECK_THAT(page, Contains("<html lang=\"en\">") && Contains("href=\"#content\"") &&
                       Contains("<main id=\"content\""));
  CHECK_THAT(page, Contains("<a href=\"builds\" aria-current=\"page\">Builds</a>") &&
                       Contains("<li aria-current=\"page\">Builds</li>"));
  CHECK_THAT(page, Contains("<link rel=\"alternate\" type=\"text/csv\" "
                            "href=\"builds.csv?a=1&amp;b=2\">"));
}

TEST_CASE("a link quotes its address and its text, and needs an address") {
  CHECK(torchwatch::html::link("a?b=1&before=\"3\"", "<x>").html ==
        "<a href=\"a?b=1&amp;before=&quot;3&quot;\">&lt;x&gt;</a>");
  CHECK(torchwatch::html::link("", "<x>").html == "&lt;x&gt;");
}

TEST_CASE("a cell may be a link with plain text behind it, and an empty fact is left out") {
  const auto html =
      html_of({.columns = {{"culprit"}}, .rows = {{Cell{"5d1c", "commit/5d1c", "<twice>"}}}});
  CHECK_THAT(html, Contains("<span><a href=\"commit/5d1c\">5d1c</a> &lt;twice&gt;</span>"));
  CHECK_THAT(facts({{"a", "1"}, {"b", ""}}).html,
             Contains("<dt>a</dt><dd>1</dd>") && !Contains("<dt>b"));
}

TEST_CASE("a heading sorts by its column, and says how the table is sorted") {
  Table table{.columns = {{"name", Cells::texts, "name"}, {"change", Cells::numbers, "change"}},
              .rows = {{"a", Cell("+2.0 %", 1.02)}, {"b", Cell("+10.0 %", 1.1)}, {"c", ""}},
              .sorted_by = "-change",
              .sort_address = "?metric=time&sort="};
  REQUIRE(sort(table));
  CHECK(table.rows.front().front().text == "b");
  CHECK(table.rows.back().front().text == "c");
  const auto html = html_of(table);
  CHECK_THAT(html, Contains("aria-sort=\"descending\"><a href=\"?metric=time&amp;sort=change\">"));
  CHECK_THAT(html, Contains("aria-sort=\"none\"><a href=\"?metric=time&amp;sort=name\">"));
}

TEST_CASE("a table is not sorted by a column without a key") {
  Table table{.columns = {{"name", Cells::texts, "name"}, {"runs"}}, .sorted_by = "runs"};
  const auto sorted = sort(table);
  REQUIRE_FALSE(sorted);
  CHECK_THAT(sorted.error().message, Contains("invalid sort \"runs\"") && Contains("name"));
}

TEST_CASE("a time of a text can be read by the reader's clock, and stays UTC without a script") {
  CHECK(escaped_prose("2026-11-20 03:16") ==
        "<time class=\"whole\" datetime=\"2026-11-20T03:16Z\">2026-11-20 03:16</time>");
  CHECK_THAT(escaped_prose("waits since 2026-11-20 03:16: a <b>"),
             Contains("since <time") && Contains("</time>: a &lt;b&gt;"));
  for (const std::string other : {"2026-11-20", "2026-11-20 03:1", "2026-11-20 03:16x", "12:34"}) {
    INFO(other);
    CHECK_THAT(escaped_prose(other), !Contains("<time"));
  }
  CHECK(text("2026-11-20 03:16").markdown == "2026-11-20 03:16");
}

TEST_CASE("a bar of stages says which one is under way, and which are done") {
  const auto bar = stages("Stages of <it>", {"discover", "measure", "report"}, 1);
  CHECK(bar.html ==
        "<ol class=\"stages\" aria-label=\"Stages of &lt;it&gt;\">\n<li class=\"done\">discover"
        "</li>\n<li aria-current=\"step\">measure</li>\n<li>report</li>\n</ol>\n");
  CHECK(bar.markdown == "- discover\n- measure\n- report\n\n");
}

TEST_CASE("a table that may scroll is reached by keys, by its links or by itself") {
  CHECK_THAT(html_of({.columns = {{"a"}}, .rows = {{"1"}}}), Contains("<table tabindex=\"0\">"));
  CHECK_THAT(html_of({.columns = {{"a"}}, .rows = {{Cell{"1", "b"}}}}), Contains("<table>"));
}

TEST_CASE("a form of choices names what is chosen, in HTML alone, and keeps texts inside") {
  const std::string hostile = "\"></option></select><script>";
  const auto form = choices("machines/compare", "What is shown",
                            {{.parameter = "build",
                              .label = "Build",
                              .chosen = "2",
                              .values = {{"1", "older"}, {"2", "newer"}, {hostile, hostile}}}},
                            "Show");
  CHECK_THAT(form.html, Contains("method=\"get\" action=\"machines/compare\"") &&
                            Contains("<label for=\"choose-build\">Build</label>") &&
                            Contains("<option value=\"1\">older</option>") &&
                            Contains("<option value=\"2\" selected>newer</option>") &&
                            !Contains("<script>"));
  CHECK(form.markdown.empty());
}
