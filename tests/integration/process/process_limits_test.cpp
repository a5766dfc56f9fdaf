#include <atomic>
#include <catch2/catch.hpp>

#include "bad_child_spec.hpp"

using namespace torchwatch;
using namespace std::chrono_literals;
using process::ProcessOutcome;
using test::bad_child;

namespace {

ProcessOutcome run(const process::ProcessSpec& spec) {
  process::Supervisor supervisor("test", test::quick());
  return supervisor.run(spec, {});
}

template <typename End>
bool is(const ProcessOutcome& outcome) {
  INFO(process::describe(outcome.end) << "\n" << outcome.output);
  const bool holds = std::holds_alternative<End>(outcome.end);
  CHECK(holds);
  return holds;
}

}  // namespace

TEST_CASE("a child that hangs, in whatever way, is ended at its time limit") {
  const std::vector<std::vector<std::string>> ways = {
      {"hang"},
      {"spin"},
      {"ignore-term", "hang"},
      {"stop"},
      {"close-output", "hang"},
      {"ignore-term", "fork", "ignore-term", "hang", "--", "hang"},
  };
  for (const auto& way : ways) {
    auto spec = bad_child(way);
    spec.time_limit = 30ms;
    INFO(way.front());
    CHECK(is<process::TimedOut>(run(spec)));
  }
}

TEST_CASE("a child that closes its output and continues is not taken for one that has ended") {
  const auto outcome = run(bad_child({"print", "last", "close-output", "exit", "4"}));
  REQUIRE(is<process::Exited>(outcome));
  CHECK(std::get<process::Exited>(outcome.end).code == 4);
  CHECK(outcome.output == "last\n");
}

TEST_CASE("a child that floods is ended, and the end of what it printed is kept") {
  auto spec = bad_child({"print", "first", "flood"});
  spec.output_limit_bytes = 10'000;
  const auto outcome = run(spec);
  CHECK(is<process::OutputLimit>(outcome));
  CHECK(outcome.output == std::string(10'000, 'x'));
}

TEST_CASE("output up to the limit, to the byte, is not a flood") {
  auto spec = bad_child({"print", std::string(99, 'y')});
  spec.output_limit_bytes = 100;
  const auto outcome = run(spec);
  CHECK(is<process::Exited>(outcome));
  CHECK(outcome.output.size() == 100);
}

TEST_CASE("a child over its memory limit is ended, also when its own child is the eater") {
  const std::vector<std::vector<std::string>> ways = {
      {"allocate", "96", "hang"},
      {"fork", "allocate", "96", "hang", "--", "hang"},
      {"fork", "allocate", "40", "hang", "--", "allocate", "40", "hang"},
  };
  for (const auto& way : ways) {
    auto spec = bad_child(way);
    spec.memory_limit_bytes = 64 << 20;
    const auto outcome = run(spec);
    REQUIRE(is<process::MemoryLimit>(outcome));
    CHECK(std::get<process::MemoryLimit>(outcome.end).resident_bytes > spec.memory_limit_bytes);
  }
}

TEST_CASE("a child under its memory limit is left alone") {
  auto spec = bad_child({"allocate", "16", "exit", "5"});
  spec.memory_limit_bytes = 512 << 20;
  CHECK(process::describe(run(spec).end) == "exit status 5");
}

TEST_CASE("a child that does not die of SIGKILL is abandoned, and nothing runs until it is gone") {
  auto settings = test::quick();
  std::atomic<bool> is_stuck = true;
  settings.give_up = 20ms;
  settings.signal_group = [&is_stuck](pid_t group, int signal) {
    if (!is_stuck) kill(-group, signal);
  };
  process::Supervisor supervisor("test", settings);
  auto spec = bad_child({"hang"});
  spec.time_limit = 10ms;
  CHECK(is<process::Abandoned>(supervisor.run(spec, {})));

  const auto refused = supervisor.run(bad_child({}), {});
  REQUIRE(is<process::SpawnFailed>(refused));
  CHECK(process::describe(refused.end).find("does not die of SIGKILL") != std::string::npos);

  is_stuck = false;
  ProcessOutcome outcome = refused;
  while (std::holds_alternative<process::SpawnFailed>(outcome.end)) {
    outcome = supervisor.run(bad_child({}), {});
  }
  CHECK(process::succeeded(outcome));
}
