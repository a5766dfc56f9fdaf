#include <array>
#include <cstdlib>
#include <future>

#include "opened_sandbox.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "trial_result.hpp"

using namespace torchwatch;
using cluster::SlurmExecutor;
using executor::RunFailure;

TEST_CASE("a run on a node gives the result that it gives here, and its lane is given back") {
  test::TrialOfTest trial;
  executor::LocalExecutor local(trial.processes(), trial.folder / "here", {});
  const auto here = test::result_of(local.run(trial.spec("a"), {}));
  {
    SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
    const auto there = test::result_of(executor.run(trial.spec("a"), {}));
    CHECK(there.samples_ns == here.samples_ns);
    CHECK(there.environment.facts == here.environment.facts);
    const auto job = trial.jobs();
    CHECK(job.find("RUNNING") != std::string::npos);
    auto copied = trial.spec("b");
    copied.fresh_copy = true;
    test::result_of(executor.run(copied, {}));
    CHECK(trial.jobs() == job);
  }
  CHECK(test::comes_true([&] { return trial.jobs().empty(); }));
  CHECK(trial.arrived() == 3);
}

TEST_CASE("an interleaved pair runs on one node at once, and leaves nothing in its scratch") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  trial.close_gate();
  auto pair = std::async(std::launch::async,
                         [&] { return executor.run_pair({trial.spec("a"), trial.spec("b")}, {}); });
  CHECK(test::comes_true([&] { return trial.arrived() == 2; }));
  trial.open_gate();
  const auto outcomes = pair.get();
  REQUIRE(outcomes);
  CHECK(std::get<RunResult>((*outcomes)[0]).attempt == "a");
  CHECK(std::get<RunResult>((*outcomes)[1]).attempt == "b");
  int nodes = 0;
  for (const auto& node : std::filesystem::directory_iterator(trial.folder / "scratch")) {
    CHECK(std::filesystem::is_empty(node));
    ++nodes;
  }
  CHECK(nodes == 1);
}

TEST_CASE("a run on a node that crashes, lies or floods has failed as it does here") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  executor::LocalExecutor local(trial.processes(), trial.folder / "here", {});
  for (const char* const behaviour : {"crash", "lie", "cut", "silent", "flood"}) {
    INFO(behaviour);
    trial.write("build/lib/behaviour", std::string("noise 0\n") + behaviour + "\n");
    const auto here = local.run(trial.spec("a"), {});
    const auto there = executor.run(trial.spec("a"), {});
    REQUIRE(here);
    REQUIRE(there);
    CHECK(std::get<RunFailure>(*there).reason == std::get<RunFailure>(*here).reason);
  }
}

TEST_CASE("a run on a node is confined as it is here") {
  test::TrialOfTest trial;
  if (!test::opened_sandbox(trial.processes(), trial.folder)) return;
  auto settings = trial.settings();
  settings.carry.sandbox = "bubblewrap";
  auto spec = trial.spec("a");
  spec.runner = TORCHWATCH_SCRIPTED_RUNNER;  // one that needs nothing beside its libraries
  SlurmExecutor executor(trial.processes(), trial.clock(), settings);
  const auto result = test::result_of(executor.run(spec, {}));
  CHECK(result.environment.facts.at("sandbox") == "bubblewrap");
}

TEST_CASE("what Slurm refuses is reported with its words, and leaves no job") {
  test::TrialOfTest trial;
  auto settings = trial.settings();
  settings.options = {"--partition=of-nobody"};
  SlurmExecutor executor(trial.processes(), trial.clock(), settings);
  const auto outcome = executor.run(trial.spec("a"), {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::unavailable);  // no comparison ends by it
  INFO(outcome.error().text());
  CHECK(outcome.error().text().find("Invalid partition name") != std::string::npos);
  CHECK(trial.jobs().empty());
}

TEST_CASE("an order that is cancelled ends on its node") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  trial.close_gate();
  std::stop_source stop;
  auto run = std::async(std::launch::async,
                        [&] { return executor.run(trial.spec("a"), stop.get_token()); });
  REQUIRE(test::comes_true([&] { return trial.arrived() == 1; }));
  stop.request_stop();
  const auto outcome = run.get();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::cancelled);
  trial.open_gate();
  test::result_of(executor.run(trial.spec("b"), {}));
}

TEST_CASE("nodes that do not see the service's folders measure from copies of their own",
          "[.][unshared]") {
  test::TrialOfTest trial;
  const char* const given = std::getenv("TRIAL_HIDDEN");
  REQUIRE(given != nullptr);
  const std::filesystem::path hidden(given);
  std::filesystem::remove_all(hidden / "builds");
  for (const char* const build : {"a", "b"}) {
    std::filesystem::create_directories(hidden / "builds" / build / "torch");
    std::filesystem::copy(trial.folder / "build/lib", hidden / "builds" / build / "torch/lib");
  }
  std::filesystem::copy(trial.folder / "runner", hidden / "builds/runner");
  REQUIRE(test::said_by("srun --nodes=1 ls -A " + hidden.string()).empty());

  auto settings = trial.settings();
  settings.copies = true;
  SlurmExecutor executor(trial.processes(), trial.clock(), settings);
  std::array<executor::RunSpec, 2> specs{trial.spec("a"), trial.spec("b")};
  for (auto& spec : specs) {
    spec.runner = hidden / "builds/runner";
    spec.libraries = hidden / "builds" / spec.request.attempt / "torch/lib";
  }
  specs[1].fresh_copy = true;
  const auto outcomes = executor.run_pair(specs, {});
  REQUIRE(outcomes);
  CHECK(std::get<RunResult>((*outcomes)[1]).attempt == "b");
  CHECK(trial.has_logged("sends 3 files to node"));
  const auto logged = trial.logged();
  specs[0].request.attempt = "c";
  test::result_of(executor.run(specs[0], {}));
  CHECK(trial.logged() == logged);
  CHECK_FALSE(trial.has_logged("lost"));
}
