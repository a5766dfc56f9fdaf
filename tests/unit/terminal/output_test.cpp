#include "torchwatch/terminal/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <ostream>

#include "torchwatch/terminal/links.hpp"
#include "torchwatch/terminal/screen.hpp"

using namespace torchwatch;

namespace {

/// Returns what reaches the file when that text is printed.
std::string printed(const std::string& text, const std::string& key = "") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  {
    terminal::Output output(ends[1], key);
    std::ostream(&output) << text;
    CHECK(output.finish().value());
  }
  close(ends[1]);
  std::array<char, 4096> shown{};
  const auto size = read(ends[0], shown.data(), shown.size());
  close(ends[0]);
  return {shown.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

}  // namespace

TEST_CASE("no text of others moves the cursor, sets a title or hides what stands beside it") {
  CHECK(printed("fix \033[2J\033[8mhidden\033]0;title\a\n") == "fix ?[2J?[8mhidden?]0;title?\n");
  CHECK(printed("good\rbad\b\b\u009b2K\n") == "good?bad???2K\n");
}

TEST_CASE("colours, the cursor of the progress and the line's end of CSV are printed") {
  const terminal::Screen screen{.columns = 80, .is_terminal = true, .has_colour = true};
  for (const auto tone : {terminal::Tone::bad, terminal::Tone::good, terminal::Tone::doubtful,
                          terminal::Tone::strong, terminal::Tone::plain}) {
    const auto text = terminal::painted("slower", tone, screen);
    CHECK(printed(text) == text);
  }
  for (const std::string text : {"\r\033[K3 of 7", "a,b\r\n", "\tgr\u00f6\u00dfer \u2026\n"}) {
    CHECK(printed(text) == text);
  }
}

TEST_CASE("links and redrawing are printed with the key that others do not know, and without it") {
  const terminal::Screen screen{.has_links = true, .key = "5f3a"};
  const auto link =
      terminal::linked("see 33de6cd2393f", {{"33de6cd2393f", "https://x.test/1"}}, screen);
  CHECK(printed(link, "5f3a") == "see \033]8;;https://x.test/1\033\\33de6cd2393f\033]8;;\033\\");
  CHECK(printed(terminal::redrawing(screen) + "now", "5f3a") == "\033[H\033[Jnow");
  CHECK_THAT(printed(link, "other"), !Catch::Contains("\033]8;;https"));
  CHECK_THAT(printed(link), !Catch::Contains("\033]8;;https"));
  CHECK_THAT(printed("\033]8;;https://x.test/1\033\\click", "5f3a"), !Catch::Contains("\033]8;;h"));
  CHECK(printed("\033[H\033[J", "5f3a") == "?[H?[J");
}

TEST_CASE("how much is done is printed, and nothing else of that kind") {
  CHECK(printed("\033]9;4;1;25\033\\") == "\033]9;4;1;25\033\\");
  CHECK(printed("\033]9;hello\033\\") == "?]9;hello?\\");
}

TEST_CASE("a reader that has gone is not a full disk") {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  close(ends[0]);
  terminal::Output unread(ends[1]);
  std::ostream(&unread) << "a result";
  CHECK_FALSE(unread.finish().value());
  close(ends[1]);

  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  terminal::Output unwritten(full);
  std::ostream(&unwritten) << "a result";
  CHECK(unwritten.finish().error().code == ErrorCode::unavailable);
  close(full);
}
