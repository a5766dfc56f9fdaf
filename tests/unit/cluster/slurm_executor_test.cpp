#include "torchwatch/cluster/slurm_executor.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "fake_slurm.hpp"
#include "torchwatch/cluster/look.hpp"

using namespace torchwatch;
using namespace std::chrono_literals;
using cluster::SlurmExecutor;
using process::Exited;
using test::FakeSlurm;

namespace {

/// Each run may take half a minute, and its node as long as for any other around it.
executor::RunBlock block_of_two_pairs() {
  executor::RunBlock block{.is_in_pairs = true};
  for (const char* const attempt : {"a", "b", "c", "d"}) {
    block.runs.push_back(test::sample_run(attempt));
    block.runs.back().request.limits.time_ms = 30'000;
  }
  return block;
}

}  // namespace

TEST_CASE("a first run asks for a node, a second one uses it, and at the end it is given back") {
  FakeSlurm slurm;
  {
    SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
    for (const char* const attempt : {"a", "b"}) {
      const auto outcome = executor.run(test::sample_run(attempt), {});
      REQUIRE(outcome);
      CHECK(std::get<RunResult>(*outcome).attempt == attempt);
    }
    CHECK(slurm.submitted == 1);
    CHECK(slurm.calls("srun") == 1);
    CHECK(slurm.calls("scancel") == 0);
  }
  CHECK(slurm.ever_asked("--job-name=torchwatch-test-0"));
  CHECK(slurm.ever_asked("--partition=measure"));
  CHECK(slurm.calls("scancel") == 1);
  CHECK(slurm.jobs.empty());
}

TEST_CASE("an executor that carried out nothing touches no job of its name") {
  FakeSlurm slurm;
  slurm.jobs = {"7|RUNNING|1:00:00|n1|None"};
  {
    const SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  }
  CHECK(slurm.processes.specs().empty());
}

TEST_CASE("both runs of a pair are one order") {
  FakeSlurm slurm;
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  const auto outcomes = executor.run_pair({test::sample_run("a"), test::sample_run("b")}, {});
  REQUIRE(outcomes);
  CHECK(std::get<RunResult>((*outcomes)[1]).attempt == "b");
  CHECK(slurm.orders.size() == 1);
}

TEST_CASE("all runs of a block are one order") {
  FakeSlurm slurm;
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  const auto outcomes = executor.run_block(block_of_two_pairs(), {});
  REQUIRE(outcomes);
  REQUIRE(outcomes->size() == 4);
  CHECK(std::get<RunResult>((*outcomes)[3]).attempt == "d");
  CHECK(slurm.orders.size() == 1);
}

TEST_CASE("a block that its job has no time for is an order for each pair") {
  FakeSlurm slurm;
  slurm.jobs = {"7|RUNNING|4:00|n1|None"};  // minutes; each pair may take two
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  REQUIRE(executor.hold(1s, [] {}, {}));
  const auto outcomes = executor.run_block(block_of_two_pairs(), {});
  REQUIRE(outcomes);
  CHECK(outcomes->size() == 4);
  CHECK(slurm.orders.size() == 2);
  CHECK(slurm.submitted == 0);
}

TEST_CASE("a job of an earlier torchwatch is used on, once its steps have ended") {
  FakeSlurm slurm;
  slurm.jobs = {"7|RUNNING|1:00:00|n1|None"};
  slurm.says("squeue", Exited{0}, "7|RUNNING|1:00:00|n1|None\n");
  slurm.says("squeue", Exited{0}, "7.3|an-old-attempt\n7.batch|batch\n");
  slurm.says("scancel", Exited{0}, "");
  slurm.says("squeue", Exited{0}, "7.batch|batch\n");
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  REQUIRE(executor.run(test::sample_run("a"), {}));
  CHECK(slurm.submitted == 0);
  CHECK(slurm.ever_asked("7.3"));
  CHECK(slurm.ever_asked("--jobid=7"));
}

TEST_CASE("an order that is lost is carried out again, under a name of its own") {
  FakeSlurm slurm;
  slurm.says("srun", process::Exited{0}, "srun: error: Node failure on n1\n");
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  REQUIRE(executor.run(test::sample_run("a"), {}));
  CHECK(slurm.calls("srun") == 2);
  REQUIRE(slurm.orders.size() == 2);
  CHECK(slurm.orders[0].id == "a-1");
  CHECK(slurm.orders[1].id == "a-2");
  CHECK(slurm.ever_asked("--exclude=n1"));
  CHECK(std::ranges::any_of(slurm.log, [](const std::string& text) {
    return text ==
           "an order was lost on node n1: srun: error: Node failure on n1 (srun: exit "
           "status 0)";
  }));
}

TEST_CASE("nodes that were left out are asked for again where no other one is up") {
  FakeSlurm slurm;
  slurm.says("srun", process::Exited{0}, "srun: error: Node failure on n1\n");
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  slurm.answers["squeue"] = {test::ended(Exited{0}, "1|RUNNING|4:00:00|n1|None\n"),
                             test::ended(Exited{0}, ""),
                             test::ended(Exited{0}, ""),
                             test::ended(Exited{0}, "1|RUNNING|4:00:00|n1|None\n"),
                             test::ended(Exited{0}, ""),
                             test::ended(Exited{0}, "2|PENDING|4:00:00||ReqNodeNotAvail, x\n")};
  slurm.answers["sbatch"] = {test::ended(Exited{0}, "2\n")};
  REQUIRE(executor.run(test::sample_run("a"), {}));
  CHECK(slurm.ever_asked("--exclude=n1"));
  CHECK(slurm.ever_asked("2"));
  const auto specs = slurm.processes.specs();
  const auto last = std::find_if(specs.rbegin(), specs.rend(),
                                 [](const auto& spec) { return spec.program == "sbatch"; });
  REQUIRE(last != specs.rend());
  CHECK_FALSE(FakeSlurm::has(*last, "--exclude=n1"));
}

TEST_CASE("an order that is lost three times did not take place: no run has failed") {
  FakeSlurm slurm;
  for (int i = 0; i < 3; ++i) slurm.says("srun", process::Signalled{9}, "srun: error: Killed\n");
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  const auto outcome = executor.run(test::sample_run("a"), {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::unavailable);
  CHECK(outcome.error().message.starts_with("lost 3 times on the cluster: "));
}

TEST_CASE("a node that refuses an order is given back, and its reason reported") {
  FakeSlurm slurm;
  orders::Order refused = test::sample_order({"a"});
  slurm.says("srun", Exited{0}, orders::refusal_line(refused, "/tmp is full"));
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  REQUIRE(executor.run(test::sample_run("a"), {}));
  CHECK(slurm.ever_asked("--exclude=n1"));
  CHECK(std::ranges::any_of(slurm.log, [](const std::string& text) {
    return text == "an order was lost on node n1: /tmp is full";
  }));
}

TEST_CASE("a run that Slurm's memory limit ends is a run that failed, killed from outside") {
  FakeSlurm slurm;
  slurm.says("srun", process::Exited{137}, "srun: error: n1: task 0: Out Of Memory\n");
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  const auto outcome = executor.run(test::sample_run("a"), {});
  REQUIRE(outcome);
  CHECK(std::get<executor::RunFailure>(*outcome).kind == executor::FailureKind::killed);
}

TEST_CASE(
    "a controller that does not answer is waited for, and the job it made is not made again") {
  FakeSlurm slurm;
  slurm.says("squeue", Exited{1}, "slurm_load_jobs error: Unable to contact slurm controller\n");
  slurm.says("squeue", Exited{0}, "");
  slurm.says("sbatch", Exited{1}, "sbatch: error: Batch job submission failed: Socket timed out\n");
  slurm.jobs = {"7|RUNNING|1:00:00|n1|None"};
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  REQUIRE(executor.run(test::sample_run("a"), {}));
  CHECK(slurm.calls("sbatch") == 1);
  CHECK(slurm.ever_asked("--jobid=7"));
}

TEST_CASE("a controller that is away for an hour is waited for, and the log says so once") {
  FakeSlurm slurm;
  auto settings = slurm.settings();
  settings.queue_limit = std::chrono::hours(12);
  const auto looks = std::chrono::hours(1) / settings.poll;
  for (int i = 0; i < looks; ++i) {
    slurm.says("squeue", Exited{1}, "slurm_load_jobs error: Unable to contact slurm controller\n");
  }
  slurm.jobs = {"7|RUNNING|1:00:00|n1|None"};
  std::string log;
  settings.log = [&log](const std::string& line) { log += line + "\n"; };
  SlurmExecutor executor(slurm.processes, slurm.clock, settings);
  REQUIRE(executor.run(test::sample_run("a"), {}));
  const std::string sentence = "Unable to contact slurm controller";
  const auto told = log.find(sentence);
  REQUIRE(told != std::string::npos);
  CHECK(log.find(sentence, told + 1) == std::string::npos);
  CHECK(slurm.calls("sbatch") == 0);
}

TEST_CASE("what Slurm refuses for good is reported at once, with Slurm's words") {
  FakeSlurm slurm;
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  SECTION("by sbatch") {
    slurm.says("sbatch", Exited{1},
               "sbatch: error: Batch job submission failed: Invalid partition name specified\n");
    const auto outcome = executor.run(test::sample_run("a"), {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == ErrorCode::unavailable);  // no comparison ends by it
    CHECK(outcome.error().message.find("Invalid partition name") != std::string::npos);
  }
  SECTION("while the job waits") {
    slurm.jobs = {"7|PENDING|1:00:00||BadConstraints"};
    const auto outcome = executor.run(test::sample_run("a"), {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().message.find("BadConstraints") != std::string::npos);
    CHECK(slurm.jobs.empty());
  }
}

TEST_CASE(
    "a node that does not come is waited for as long as the limit says, and the reason reported") {
  FakeSlurm slurm;
  slurm.jobs = {"7|PENDING|1:00:00||Priority"};
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  const auto outcome = executor.run(test::sample_run("a"), {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::unavailable);
  CHECK(outcome.error().message == "no node of the cluster for 60 s: job 7 is PENDING (Priority)");
  CHECK(slurm.calls("squeue") <= 32);
}

TEST_CASE("a run that is longer than an allocation is refused before anything is asked for") {
  FakeSlurm slurm;
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  auto run = test::sample_run("a");
  run.request.limits.time_ms = 5 * 3'600'000;
  const auto outcome = executor.run(run, {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().message.find("longer than an allocation") != std::string::npos);
  CHECK(slurm.calls("sbatch") == 0);
}

TEST_CASE("an order that is stopped is cancelled, and so is its step") {
  FakeSlurm slurm;
  slurm.says("srun", process::Cancelled{}, "");
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  const auto outcome = executor.run(test::sample_run("a"), {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::cancelled);
  CHECK(slurm.ever_asked("--steps"));
}

TEST_CASE("no variable of the service's environment changes what Slurm's programs do") {
  FakeSlurm slurm;
  setenv("SBATCH_PARTITION", "of somebody else", 1);
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  REQUIRE(executor.run(test::sample_run("a"), {}));
  unsetenv("SBATCH_PARTITION");
  for (const auto& spec : slurm.processes.specs()) {
    for (const auto& [name, value] : spec.environment) {
      INFO(name);
      CHECK((name == "PATH" || name == "SLURM_CONF" || name == "HOME" || name == "LC_ALL"));
    }
  }
}

TEST_CASE("a node of another machine class is given back before its runs count, and reported") {
  FakeSlurm slurm;
  const auto of_class = [](const std::string& model) {
    auto result = test::believable("a");
    result.environment.facts = {{"cpu_model", model}, {"cpus", "64"}};
    return orders::outcome_line("a", result);
  };
  auto run = test::sample_run("a");
  run.machine_class = {{"cpu_model", "Model X"}, {"gpu_model", "H100"}};
  int orders = 0;
  slurm.answers_orders = [&](const orders::Order& order) {
    return orders::greeting_line(order, "n") + of_class(++orders == 1 ? "Model Y" : "Model X") +
           orders::ended_line(order);
  };
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  const auto outcome = executor.run(run, {});
  REQUIRE(outcome);
  CHECK(std::get<RunResult>(*outcome).environment.facts.at("cpu_model") == "Model X");
  CHECK(slurm.ever_asked("--exclude=n1"));
  CHECK(std::ranges::any_of(slurm.log, [](const std::string& text) {
    return text ==
           "an order was lost on node n1: the node is of another machine class than the runs "
           "before: cpu_model: Model X -> Model Y";
  }));
}

TEST_CASE("a node that is drained is given back between two runs") {
  FakeSlurm slurm;
  SlurmExecutor executor(slurm.processes, slurm.clock, slurm.settings());
  REQUIRE(executor.run(test::sample_run("a"), {}));
  slurm.says("sinfo", Exited{0}, "draining\n");
  slurm.clock.advance(31s);
  REQUIRE(executor.run(test::sample_run("b"), {}));
  CHECK(slurm.submitted == 2);
  CHECK(slurm.ever_asked("--exclude=n1"));
}

TEST_CASE("an order of a lane is tried once, on the node that the lane holds") {
  FakeSlurm slurm;
  cluster::SlurmLanes lanes(slurm.processes, slurm.clock,
                            {{.settings = slurm.settings(), .count = 2}});
  CHECK(lanes.count() == 2);
  bool waited = false;
  const auto node = lanes.hold(1, 60s, [&] { waited = true; }, {});
  REQUIRE(node);
  CHECK(*node == "n1");
  CHECK(waited);
  CHECK(slurm.ever_asked("--job-name=torchwatch-test-1"));
  auto run = test::sample_run("a");
  run.node = *node;
  REQUIRE(lanes.lane(1).run(run, {}));
  run.node = "n7";
  CHECK(lanes.lane(1).run(run, {}).error().code == ErrorCode::conflict);
  run.node = *node;
  slurm.says("srun", process::Exited{0}, "srun: error: Node failure on n1\n");
  const auto lost = lanes.lane(1).run(run, {});
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == ErrorCode::unavailable);
  CHECK(lost.error().message.starts_with("lost on node n1: srun: error: Node failure"));
  CHECK(slurm.submitted == 1);
  lanes.give_back(1);
  CHECK(slurm.jobs.empty());
}

TEST_CASE("the jobs of a service are those whose names begin as its own do") {
  FakeSlurm slurm;
  slurm.jobs = {"torchwatch-1-0|7|RUNNING|1:00:00|n1|None",
                "torchwatch-1-build-abc|8|PENDING|1:00:00||Resources",
                "torchwatch-12-0|9|RUNNING|1:00:00|n2|None", "of somebody|x"};
  const auto jobs = cluster::jobs_of_service(slurm.processes, "torchwatch-1-").value();
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].name == "0");
  CHECK(jobs[0].job.node == "n1");
  CHECK(jobs[1].name == "build-abc");
  CHECK(jobs[1].job.reason == "Resources");
}

TEST_CASE("services on two databases have lanes of two names, and one keeps its name") {
  CHECK(cluster::lane_name("a/db.sqlite") != cluster::lane_name("b/db.sqlite"));
  CHECK(cluster::lane_name("a/db.sqlite") == cluster::lane_name("a/../a/db.sqlite"));
}

TEST_CASE("each class has lanes of its own, by names from which people see of which one they are") {
  FakeSlurm slurm;
  auto of_cpu = slurm.settings();
  of_cpu.name = cluster::lane_name("db.sqlite", "epyc-2");
  auto of_gpu = slurm.settings();
  of_gpu.name = cluster::lane_name("db.sqlite", "h100");
  of_gpu.options = {"--gres=gpu:1"};
  const Configuration cpu{Device::cpu, Mode::train};
  const Configuration cuda{Device::cuda, Mode::train};
  cluster::SlurmLanes lanes(
      slurm.processes, slurm.clock,
      {{.name = "epyc-2", .configurations = {cpu}, .settings = of_cpu, .count = 2},
       {.name = "h100", .configurations = {cuda}, .settings = of_gpu, .count = 2}});
  REQUIRE(lanes.count() == 4);
  CHECK(lanes.machine_class(1) == "epyc-2");
  CHECK(lanes.machine_class(2) == "h100");
  const auto service = cluster::lane_name("db.sqlite");
  const auto prefix = service.substr(0, service.size() - 1);
  REQUIRE(lanes.hold(1, 60s, [] {}, {}));
  CHECK(slurm.ever_asked("--job-name=" + prefix + "epyc-2.1"));
  CHECK_FALSE(slurm.ever_asked("--gres=gpu:1"));
  slurm.jobs.clear();
  REQUIRE(lanes.hold(3, 60s, [] {}, {}));
  CHECK(slurm.ever_asked("--job-name=" + prefix + "h100.1"));
  CHECK(slurm.ever_asked("--gres=gpu:1"));
  CHECK(std::ranges::any_of(slurm.log, [](const std::string& text) {
    return text.starts_with("class h100: holds node n");
  }));
  auto run = test::sample_run("a");
  run.request.benchmark.configuration = cuda;
  slurm.jobs.clear();
  REQUIRE(lanes.first_lanes().run(run, {}));
  CHECK(slurm.ever_asked("--job-name=" + prefix + "h100.0"));
  CHECK_FALSE(slurm.ever_asked("--job-name=" + prefix + "epyc-2.0"));
}

TEST_CASE("the end of a job's name says which lane it is, and of which class") {
  CHECK(cluster::lane_text("0") == "lane 0");
  CHECK(cluster::lane_text("12") == "lane 12");
  CHECK(cluster::lane_text("h100.3") == "lane 3 of h100");
  CHECK(cluster::lane_text("build-1.10") == "lane 10 of build-1");
  CHECK(cluster::lane_text("build-12345678").empty());
  CHECK(cluster::lane_text("look").empty());
  CHECK(cluster::lane_text("h100.").empty());
  CHECK(cluster::lane_text("").empty());
}
