#include "torchwatch/terminal/table.hpp"

#include <catch2/catch.hpp>
#include <sstream>

using namespace torchwatch::terminal;
using Catch::Contains;

namespace {

std::vector<std::string> lines_of(const Table& table, const Screen& screen) {
  std::ostringstream out;
  table.print(out, screen);
  std::istringstream in(out.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Table wide_table() {
  Table table({{"workload"},
               {"remark", Table::Align::left, 2},
               {"runs", Table::Align::right, 1},
               {"change", Table::Align::right}});
  table.add({"a_workload_with_a_name_of_forty_characters",
             "a remark of some length",
             "24",
             {"+15.0 %", Tone::bad}});
  return table;
}

}  // namespace

TEST_CASE("a table's columns are as wide as their widest cell, numbers to the right") {
  Table table({{"name"}, {"runs", Table::Align::right}});
  table.add({"a long name", "5"});
  table.add({"b", "1234"});
  const auto lines = lines_of(table, {});
  REQUIRE(lines.size() == 4);
  CHECK(lines[2].find(" 5") == lines[3].find("1234") + 2);
}

TEST_CASE("no line of a table is wider than its screen") {
  for (const int columns : {60, 80, 120, 200}) {
    for (const auto& line : lines_of(wide_table(), {.columns = columns})) {
      CHECK(width_of(line) <= static_cast<std::size_t>(columns));
    }
  }
}

TEST_CASE("a narrow screen shortens names, and then loses the least important columns") {
  const auto shortened = lines_of(wide_table(), {.columns = 60});
  CHECK_THAT(shortened[0], Contains("remark") && Contains("runs"));
  CHECK_THAT(shortened[2], Contains("…") && Contains("24") && Contains("+15.0 %"));
  const auto lost = lines_of(wide_table(), {.columns = 40});
  CHECK_THAT(lost[0], !Contains("remark") && Contains("runs") && Contains("change"));
}

TEST_CASE("a sentence is wrapped in its column, or stands below its row, and loses no word") {
  Table table({{"id", Table::Align::right},
               {.heading = "started, UTC", .fit = Table::Fit::whole},
               {.heading = "remark", .least = 20, .fit = Table::Fit::wrap}});
  table.add({"7", "2026-08-17 03:04", "waits: the disk of the state folder is nearly full"});
  table.add({"6", "2026-08-16 03:04", ""});
  const auto beside = lines_of(table, {.columns = 60});
  REQUIRE(beside.size() == 5);
  CHECK(beside[2] == " 7  2026-08-17 03:04  waits: the disk of the state folder is");
  CHECK(beside[3] == "                      nearly full");
  const auto below = lines_of(table, {.columns = 40});
  CHECK(below == std::vector<std::string>{"id  started, UTC", "--  ----------------",
                                          " 7  2026-08-17 03:04",
                                          "    waits: the disk of the state folder",
                                          "    is nearly full", " 6  2026-08-16 03:04"});
}

TEST_CASE("what is copied is whole at any width") {
  const std::string command = "`torchwatch incident accept 7 --reason \"the price of a fix\"`";
  Table table({{.heading = "key", .fit = Table::Fit::whole},
               {.heading = "remedy", .fit = Table::Fit::wrap}});
  table.add({"open-leak-6d2e5bc81f2c1e48-1", "see " + command});
  for (const int columns : {40, 60, 80, 200}) {
    std::ostringstream out;
    table.print(out, {.columns = columns});
    CHECK_THAT(out.str(), Contains(command) && Contains("open-leak-6d2e5bc81f2c1e48-1"));
  }
}

TEST_CASE("a cell of any length is shortened before it is laid out") {
  Table table({{"name"}, {.heading = "version", .fit = Table::Fit::whole}});
  for (int row = 0; row < 20; ++row) {
    table.add({std::string(300'000, 'n'), std::string(300'000, 'v')});
  }
  CHECK(lines_of(table, {.columns = 80}).back().size() < 4100);
}

TEST_CASE("a column without anything in it is left out, and no cell breaks its line") {
  Table table({{"name"}, {"revoked, UTC"}, {.heading = "reason", .fit = Table::Fit::wrap}});
  table.add({"ci", "", "ninja: exit status 1\nMacros.h:8:2: error"});
  const auto lines = lines_of(table, {.columns = 80});
  REQUIRE(lines.size() == 3);
  CHECK_THAT(lines[0], !Contains("revoked"));
  CHECK(lines[2] == "ci    ninja: exit status 1 Macros.h:8:2: error");
}

TEST_CASE("a colour takes no column in a table") {
  const auto plain = lines_of(wide_table(), {.columns = 80});
  const auto coloured = lines_of(wide_table(), {.columns = 80, .has_colour = true});
  CHECK(plain[1] == coloured[1]);
  CHECK_THAT(coloured[2], Contains("\033[1;31m+15.0 %\033[0m"));
}
