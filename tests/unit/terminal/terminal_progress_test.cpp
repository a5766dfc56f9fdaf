#include "torchwatch/terminal/terminal_progress.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "fake_clock.hpp"
#include "torchwatch/terminal/screen.hpp"

using namespace std::chrono_literals;
using namespace torchwatch::terminal;
using Catch::Contains;
using torchwatch::comparison::LongStep;

namespace {

struct Shown {
  explicit Shown(ProgressSettings settings) {
    auto owned = std::make_unique<torchwatch::test::FakeClock>();
    clock = owned.get();
    progress = std::make_unique<TerminalProgress>(out, std::move(settings), std::move(owned));
  }
  /// What a person sees in the last line of a terminal.
  std::string bar() const { return out.str().substr(out.str().rfind("\033[K") + 3); }

  std::ostringstream out;
  torchwatch::test::FakeClock* clock;
  std::unique_ptr<TerminalProgress> progress;
};

ProgressSettings terminal(int columns = 80) {
  return {.is_terminal = true, .columns = [columns] { return columns; }};
}

}  // namespace

TEST_CASE("a terminal gets a bar that later lines replace") {
  Shown shown(terminal());
  shown.progress->phase_started("measuring");
  shown.progress->progress(12, 24, "resnet18");
  CHECK_THAT(shown.out.str(), Contains("[############............] 12/24  resnet18"));
  shown.progress->log("done");
  const auto text = shown.out.str();
  CHECK(text.find("\r\033[K", text.find("12/24")) < text.find("done"));
}

TEST_CASE("a bar that is shown at the end is removed") {
  Shown shown(terminal());
  shown.progress->progress(24, 24, "last");
  shown.progress.reset();
  CHECK(shown.out.str().ends_with("\r\033[K"));
}

TEST_CASE("an amount that is not known yet is an empty bar") {
  Shown shown(terminal());
  shown.progress->progress(3, 0, "listing");
  CHECK_THAT(shown.out.str(), Contains("[........................] 3/0"));
}

TEST_CASE("a bar is narrower than its terminal, whatever it says") {
  for (const int columns : {20, 60, 80, 200}) {
    Shown shown(terminal(columns));
    for (int done = 0; done < 5; ++done) {
      shown.progress->progress(done, 1000,
                               "nvidia_deeprecommender cpu-infer bf16,batch=8, memory, "
                               "confirm, and a name without end");
      shown.clock->advance(10min);
    }
    CHECK(width_of(shown.bar()) < static_cast<std::size_t>(columns));
  }
}

TEST_CASE("what is left is estimated as a range once three parts are done") {
  Shown shown(terminal(120));
  for (int done = 0; done < 3; ++done) {
    shown.progress->progress(done, 20, "resnet18");
    CHECK_THAT(shown.bar(), !Contains("left"));
    shown.clock->advance(1min);
  }
  shown.progress->progress(3, 20, "resnet18");
  CHECK_THAT(shown.bar(), Contains("about 17 min left"));
  for (int done = 4; done < 9; ++done) {
    shown.clock->advance(2min);
    shown.progress->progress(done, 20, "resnet18");
  }
  CHECK_THAT(shown.bar(), Contains("about 19 to 24 min left"));
  shown.progress->phase_started("searching");
  shown.progress->progress(9, 20, "resnet18");
  CHECK_THAT(shown.bar(), !Contains("left"));
}

TEST_CASE("a long step says how long the last of its kind took") {
  Shown shown(terminal());
  shown.progress->long_step_started(LongStep::build, "building commit a");
  shown.clock->advance(62min);
  shown.progress->long_step_started(LongStep::kit, "preparing the runner of a");
  shown.progress->long_step_started(LongStep::build, "building commit b");
  CHECK_THAT(shown.out.str(), Contains("building commit a\n") &&
                                  Contains("preparing the runner of a\n") &&
                                  Contains("building commit b (the last took 1 h 2 min)\n"));
}

TEST_CASE("what is not a terminal gets plain lines and no bar") {
  Shown shown(ProgressSettings{});
  shown.progress->phase_started("measuring");
  shown.progress->progress(1, 2, "resnet18");
  shown.progress->log("done");
  CHECK_THAT(shown.out.str(), Contains("measuring\n") && Contains("done\n"));
  CHECK_THAT(shown.out.str(), !Contains("\033") && !Contains("resnet18"));
}

TEST_CASE("plain progress is a line every half minute, on a terminal too") {
  auto settings = terminal();
  settings.style = ProgressStyle::plain;
  Shown shown(std::move(settings));
  shown.progress->progress(1, 9, "first");
  shown.clock->advance(31s);
  shown.progress->progress(2, 9, "second");
  shown.progress->progress(3, 9, "third");
  CHECK(shown.out.str() == "  0:31  2/9  second\n");
}

TEST_CASE("progress that nobody wants is not printed") {
  auto settings = terminal();
  settings.style = ProgressStyle::none;
  Shown shown(std::move(settings));
  shown.progress->phase_started("measuring");
  shown.progress->progress(1, 9, "first");
  shown.progress->log("done");
  CHECK(shown.out.str().empty());
}

TEST_CASE("a style of progress is one of three words") {
  CHECK(parse_progress_style("auto").value() == ProgressStyle::automatic);
  CHECK(parse_progress_style("none").value() == ProgressStyle::none);
  CHECK_THAT(parse_progress_style("bar").error().message, Contains("auto, plain or none"));
}
