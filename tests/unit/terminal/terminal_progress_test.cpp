#include "torchwatch/terminal/terminal_progress.hpp"

#include <catch2/catch.hpp>
#include <sstream>

using Catch::Contains;
using torchwatch::terminal::TerminalProgress;

TEST_CASE("a terminal gets a bar that later lines replace") {
  std::ostringstream out;
  {
    TerminalProgress progress(out, true);
    progress.phase_started("measuring");
    progress.progress(12, 24, "resnet18");
    CHECK_THAT(out.str(), Contains("[############............] 12/24  resnet18"));
    progress.log("done");
  }
  const auto text = out.str();
  CHECK(text.find("\r\033[K", text.find("12/24")) < text.find("done"));
}

TEST_CASE("a bar that is shown at the end is removed") {
  std::ostringstream out;
  {
    TerminalProgress(out, true).progress(24, 24, "last");
  }
  CHECK(out.str().ends_with("\r\033[K"));
}

TEST_CASE("an amount that is not known yet is an empty bar") {
  std::ostringstream out;
  TerminalProgress(out, true).progress(3, 0, "listing");
  CHECK_THAT(out.str(), Contains("[........................] 3/0"));
}

TEST_CASE("what is no terminal gets plain lines and no bar") {
  std::ostringstream out;
  TerminalProgress progress(out, false);
  progress.phase_started("measuring");
  progress.progress(1, 2, "resnet18");
  progress.log("done");
  CHECK_THAT(out.str(), Contains("measuring\n") && Contains("done\n"));
  CHECK_THAT(out.str(), !Contains("\033") && !Contains("resnet18"));
}
