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

ProgressSettings terminal_of(int columns = 80) {
  return {.is_terminal = true, .columns = [columns] { return columns; }};
}

}  // namespace

TEST_CASE("a terminal gets a bar that later lines replace") {
  Shown shown(terminal_of());
  shown.progress->phase_started("measuring");
  shown.progress->progress(12, 24, "resnet18");
  CHECK_THAT(shown.out.str(), Contains("[############............] 12/24  resnet18"));
  shown.progress->log("done");
  const auto text = shown.out.str();
  CHECK(text.find("\r\033[K", text.find("12/24")) < text.find("done"));
}

TEST_CASE("a bar that is shown at the end is removed") {
  Shown shown(terminal_of());
  shown.progress->progress(24, 24, "last");
  shown.progress.reset();
  CHECK(shown.out.str().ends_with("\r\033[K"));
}

TEST_CASE("an amount that is not known yet is an empty bar") {
  Shown shown(terminal_of());
  shown.progress->progress(3, 0, "listing");
  CHECK_THAT(shown.out.str(), Contains("[........................] 3/0"));
}

TEST_CASE("a bar is narrower than its terminal, whatever it says") {
  for (const int columns : {20, 60, 80, 200}) {
    Shown shown(terminal_of(columns));
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
  Shown shown(terminal_of(120));
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
  Shown shown(terminal_of());
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
  auto settings = terminal_of();
  settings.style = ProgressStyle::plain;
  Shown shown(std::move(settings));
  shown.progress->progress(1, 9, "first");
  shown.clock->advance(31s);
  shown.progress->progress(2, 9, "second");
  shown.progress->progress(3, 9, "third");
  CHECK(shown.out.str() == "  0:31  2/9  second\n");
}

TEST_CASE("progress that nobody wants is not printed") {
  auto settings = terminal_of();
  settings.style = ProgressStyle::none;
  Shown shown(std::move(settings));
  shown.progress->phase_started("measuring");
  shown.progress->progress(1, 9, "first");
  shown.progress->log("done");
  CHECK(shown.out.str().empty());
}

TEST_CASE("a style of progress is one of four words") {
  CHECK(parse_progress_style("auto").value() == ProgressStyle::automatic);
  CHECK(parse_progress_style("bar").value() == ProgressStyle::bar);
  CHECK(parse_progress_style("none").value() == ProgressStyle::none);
  CHECK_THAT(parse_progress_style("line").error().message, Contains("auto, bar, plain or none"));
}

TEST_CASE("a bar that is asked for is drawn where no terminal is") {
  Shown shown({.style = ProgressStyle::bar});
  shown.progress->progress(12, 24, "resnet18");
  CHECK_THAT(shown.out.str(), Contains("[############............] 12/24  resnet18"));
}

TEST_CASE("a terminal that shows how much is done gets the share, and its end") {
  auto settings = terminal_of();
  settings.has_taskbar = true;
  Shown shown(std::move(settings));
  shown.progress->progress(6, 24, "resnet18");
  CHECK_THAT(shown.out.str(), Contains("\033]9;4;1;25\033\\"));
  shown.progress->progress(3, 0, "listing");
  shown.progress.reset();
  CHECK(shown.out.str().ends_with("\r\033[K\033]9;4;0;0\033\\"));
  Shown plain(terminal_of());
  plain.progress->progress(6, 24, "resnet18");
  CHECK_THAT(plain.out.str(), !Contains("]9;4"));
}

TEST_CASE("the state is the stage, what runs now, and what was said last, in every style") {
  for (const auto style : {ProgressStyle::plain, ProgressStyle::none}) {
    Shown shown({.style = style});
    shown.progress->phase_started("measuring");
    shown.progress->log("regressed: dlrm cpu-train time +14.4 %");
    shown.progress->progress(12, 96, "resnet18 cpu-train, timing, screen");
    const auto before = shown.out.str().size();
    shown.progress->say_state();
    CHECK(shown.out.str().substr(before) ==
          "  0:00  measuring: 12/96, resnet18 cpu-train, timing, screen\n"
          "  0:00  before: regressed: dlrm cpu-train time +14.4 %\n");
  }
}

TEST_CASE("the state has an estimate once the bar has one, and forgets the part before a stage") {
  Shown shown({.style = ProgressStyle::none});
  shown.progress->say_state();
  CHECK(shown.out.str() == "  0:00  nothing is being done\n");
  shown.progress->phase_started("measuring");
  for (int done = 0; done <= 3; ++done) {
    shown.progress->progress(done, 20, "resnet18");
    if (done < 3) shown.clock->advance(1min);
  }
  shown.progress->say_state();
  CHECK_THAT(shown.out.str(), Contains("measuring: 3/20, about 17 min left, resnet18\n"));
  shown.progress->phase_started("judging");
  shown.progress->say_state();
  CHECK(shown.out.str().ends_with("  3:00  judging\n"));
}

TEST_CASE("the state and what else is asked for fit the terminal") {
  for (const int columns : {60, 80, 120}) {
    Shown shown(terminal_of(columns));
    shown.progress->phase_started("measuring");
    shown.progress->log("regressed: nvidia_deeprecommender cpu-train bf16,batch=8 time +14.4 % " +
                        std::string("[+11.0, +16.1] %, and some more that is said of it here"));
    shown.progress->progress(12, 96,
                             "nvidia_deeprecommender cpu-train bf16,batch=8, memory, confirm");
    shown.progress->say_state();
    shown.progress->say("ending after the run that is under way; interrupt again to end at once");
    std::istringstream text(shown.out.str().substr(shown.out.str().rfind("\033[K") + 3));
    int lines = 0;
    for (std::string line; std::getline(text, line); ++lines) {
      INFO(line);
      CHECK(width_of(line) < static_cast<std::size_t>(columns));
    }
    CHECK(lines >= 3);
  }
}

TEST_CASE("progress that is not shown keeps the state, and the newest five remarks") {
  UnshownProgress progress;
  CHECK(progress.state() == std::vector<std::string>{"nothing is being done"});
  progress.phase_started("measuring");
  progress.progress(3, 0, "resnet18");
  for (int i = 0; i < 6; ++i) progress.log("remark " + std::to_string(i));
  const auto state = progress.state();
  REQUIRE(state.size() == 6);
  CHECK(state[0] == "measuring: 3/?, resnet18");
  CHECK(state[1] == "before: remark 1");
  CHECK(state[5] == "before: remark 5");
  progress.comparison_ended();
  CHECK(progress.state().front() == "nothing is being done");
}
