#include "torchwatch/terminal/screen.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace torchwatch::terminal;

namespace {

Variables variables(std::map<std::string, std::string> set) {
  return [set](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? std::optional<std::string>() : found->second;
  };
}

}  // namespace

TEST_CASE("the width is COLUMNS, else the window's or 80, between 60 and 200, and 200 for a pipe") {
  CHECK(screen_of(false, {}, variables({})).columns == 200);
  CHECK(screen_of(true, 132, variables({})).columns == 132);
  CHECK(screen_of(false, 132, variables({})).columns == 200);
  CHECK(screen_of(true, 132, variables({{"COLUMNS", "100"}})).columns == 100);
  CHECK(screen_of(true, 132, variables({{"COLUMNS", "wide"}})).columns == 132);
  CHECK(screen_of(true, 20, variables({})).columns == 60);
  CHECK(screen_of(true, 500, variables({})).columns == 200);
}

TEST_CASE("colours are for terminals, unless the environment says otherwise") {
  CHECK(screen_of(true, 80, variables({{"TERM", "xterm"}})).has_colour);
  CHECK_FALSE(screen_of(false, {}, variables({{"TERM", "xterm"}})).has_colour);
  CHECK_FALSE(screen_of(true, 80, variables({{"TERM", "dumb"}})).has_colour);
  CHECK_FALSE(screen_of(true, 80, variables({{"NO_COLOR", "1"}})).has_colour);
  CHECK(screen_of(true, 80, variables({{"NO_COLOR", ""}})).has_colour);
  CHECK(screen_of(false, {}, variables({{"CLICOLOR_FORCE", "1"}})).has_colour);
  CHECK_FALSE(screen_of(false, {}, variables({{"CLICOLOR_FORCE", "0"}})).has_colour);
  CHECK(screen_of(false, {}, variables({{"FORCE_COLOR", "1"}})).has_colour);
  CHECK(screen_of(true, 80, variables({{"FORCE_COLOR", "1"}, {"TERM", "dumb"}})).has_colour);
  CHECK_FALSE(screen_of(false, {}, variables({{"FORCE_COLOR", "0"}})).has_colour);
  for (const auto* force : {"CLICOLOR_FORCE", "FORCE_COLOR"}) {
    CHECK_FALSE(screen_of(false, {}, variables({{force, "1"}, {"NO_COLOR", "1"}})).has_colour);
  }
}

TEST_CASE("a terminal that cannot move its cursor gets no bar") {
  CHECK_FALSE(screen_of(true, 80, variables({{"TERM", "dumb"}})).is_terminal);
}

TEST_CASE("links are for terminals that can, whatever is said of colours") {
  CHECK(screen_of(true, 80, variables({{"TERM", "xterm"}})).has_links);
  CHECK(screen_of(true, 80, variables({{"TERM", "xterm"}, {"NO_COLOR", "1"}})).has_links);
  for (const auto* term : {"dumb", "linux", ""}) {
    CHECK_FALSE(screen_of(true, 80, variables({{"TERM", term}})).has_links);
  }
  CHECK_FALSE(screen_of(false, {}, variables({{"TERM", "xterm"}, {"FORCE_COLOR", "1"}})).has_links);
}

TEST_CASE("only terminals that say who they are show how much is done") {
  CHECK(screen_of(true, 80, variables({{"TERM_PROGRAM", "WezTerm"}})).has_taskbar);
  CHECK(screen_of(true, 80, variables({{"WT_SESSION", "1f"}})).has_taskbar);
  CHECK(screen_of(true, 80, variables({{"ConEmuANSI", "ON"}})).has_taskbar);
  CHECK_FALSE(screen_of(true, 80, variables({{"TERM", "xterm"}})).has_taskbar);
  CHECK_FALSE(screen_of(false, {}, variables({{"TERM_PROGRAM", "WezTerm"}})).has_taskbar);
}

TEST_CASE("text is painted only where there are colours") {
  CHECK(painted("regressed", Tone::bad, {}) == "regressed");
  CHECK(painted("regressed", Tone::bad, {.has_colour = true}) == "\033[1;31mregressed\033[0m");
  CHECK(painted("unchanged", Tone::plain, {.has_colour = true}) == "unchanged");
}
