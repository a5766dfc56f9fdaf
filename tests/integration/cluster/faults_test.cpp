#include "run_at_work.hpp"
#include "torchwatch/cluster/look.hpp"
#include "torchwatch/executor/local_executor.hpp"

using namespace torchwatch;
using cluster::SlurmExecutor;
using test::AtWork;

namespace {

bool all_nodes_are_idle() {
  return test::said_by("sinfo -h -N -p measure -o %T") == "idle\nidle\nidle\n";
}

}  // namespace

TEST_CASE("a node that dies in a run loses that order alone, which another node carries out",
          "[.][fault]") {
  test::TrialOfTest trial;
  {
    SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
    AtWork work(trial, executor);
    test::cluster_command("node_kill " + work.node);
    test::cluster_command("node_down " + work.node);
    CHECK(work.result().attempt == "a");
    INFO(trial.logged());
    CHECK(trial.has_logged("an order was lost on node " + work.node));
    CHECK(trial.jobs().find(" " + work.node) == std::string::npos);
    CHECK(trial.arrived() == 2);
    test::cluster_command("node_start " + work.node);
    test::cluster_command("node_resume " + work.node);
  }
  CHECK(test::comes_true([&] { return trial.jobs().empty(); }));
  CHECK(test::comes_true(all_nodes_are_idle));
}

TEST_CASE("a node that is cut off works on where nobody hears it, and its order counts once",
          "[.][fault]") {
  test::TrialOfTest trial;
  {
    SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
    AtWork work(trial, executor);
    test::cluster_command("node_cut " + work.node);
    test::cluster_command("node_down " + work.node);
    CHECK(test::comes_true([&] { return trial.arrived() == 2; }));
    CHECK(work.result().attempt == "a");
    CHECK(trial.jobs().find(" " + work.node) == std::string::npos);
    test::cluster_command("node_heal " + work.node);
    test::cluster_command("node_resume " + work.node);
  }
  CHECK(test::comes_true([&] { return trial.jobs().empty(); }));
  CHECK(test::comes_true(all_nodes_are_idle));
}

TEST_CASE("a node's daemon that dies in a run loses nothing", "[.][fault]") {
  test::TrialOfTest trial;
  {
    SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
    AtWork work(trial, executor);
    test::cluster_command("slurmd_kill " + work.node);
    CHECK(work.result().attempt == "a");
    CHECK(trial.arrived() == 1);
    test::cluster_command("node_start " + work.node);
  }
  CHECK(test::comes_true(all_nodes_are_idle));
}

// Slurm looks at limits every half minute, so this takes one and a half.
TEST_CASE("a job that Slurm ends at its time limit loses its order alone", "[.][fault]") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  AtWork work(trial, executor);
  const auto job = trial.jobs();
  test::cluster_command("scontrol update JobId=" + job.substr(0, job.find(' ')) + " TimeLimit=1");
  const auto is_lost = [&] { return trial.has_logged("an order was lost"); };
  CHECK((test::comes_true(is_lost) || test::comes_true(is_lost)));
  CHECK(work.result().attempt == "a");
  CHECK(trial.jobs() != job);
}

TEST_CASE("a job that somebody cancels is asked for anew, and its order carried out there",
          "[.][fault]") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  AtWork work(trial, executor);
  const auto before = trial.jobs();
  test::cluster_command("scancel -n " + trial.name);
  CHECK(work.result().attempt == "a");
  CHECK(trial.jobs() != before);
}

TEST_CASE("a step that somebody cancels is started again in the same job", "[.][fault]") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  AtWork work(trial, executor);
  const auto before = trial.jobs();
  const auto job = before.substr(0, before.find(' '));
  test::cluster_command("scancel $(squeue -h -s -j " + job + " -o '%i' | grep -v batch)");
  CHECK(work.result().attempt == "a");
  CHECK(trial.jobs() == before);
}

TEST_CASE("a job with too little time left is given back, and another one asked for",
          "[.][fault]") {
  test::TrialOfTest trial;
  {
    SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
    test::result_of(executor.run(trial.spec("a"), {}));
    const auto before = trial.jobs();
    const auto job = before.substr(0, before.find(' '));
    REQUIRE(test::cluster_command("scontrol update JobId=" + job + " TimeLimit=1") == 0);
    SlurmExecutor next(trial.processes(), trial.clock(), trial.settings());
    test::result_of(next.run(trial.spec("b"), {}));
    CHECK(trial.jobs() != before);
  }
  CHECK(test::comes_true([&] { return trial.jobs().empty(); }));
}

TEST_CASE("a controller that dies in a run loses nothing, and is waited for by the next one",
          "[.][fault]") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  AtWork work(trial, executor);
  test::cluster_command("controller_kill KILL");
  CHECK(work.result().attempt == "a");
  CHECK(trial.arrived() == 1);
  auto next = std::async(std::launch::async, [&] { return executor.run(trial.spec("b"), {}); });
  test::cluster_command("controller_start");
  CHECK(test::result_of(next.get()).attempt == "b");
  CHECK(test::comes_true(
      [] { return test::said_by("scontrol ping").find("UP") != std::string::npos; }));
}

TEST_CASE("a program that the nodes lack is reported after three tries, and fails no run",
          "[.][fault]") {
  test::TrialOfTest trial;
  {
    auto settings = trial.settings();
    settings.program = "/nowhere/torchwatch-carry";
    SlurmExecutor executor(trial.processes(), trial.clock(), settings);
    const auto outcome = executor.run(trial.spec("a"), {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == ErrorCode::unavailable);
    INFO(outcome.error().text());
    CHECK(outcome.error().text().find("/nowhere/torchwatch-carry") != std::string::npos);
  }
  CHECK(test::comes_true([&] { return trial.jobs().empty(); }));
}

TEST_CASE("a runner that a node does not see is the node's refusal, with its reason",
          "[.][fault]") {
  test::TrialOfTest trial;
  // Each node that refuses is left out, and a node of an earlier test may still be ending its job.
  auto settings = trial.settings();
  settings.queue_limit = std::chrono::seconds(60);
  SlurmExecutor executor(trial.processes(), trial.clock(), settings);
  auto spec = trial.spec("a");
  spec.runner = "/nowhere/runner";
  const auto outcome = executor.run(spec, {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::unavailable);
  INFO(outcome.error().text());
  CHECK_THAT(trial.logged(), Catch::Contains("an order was lost on node") &&
                                 Catch::Contains("runner /nowhere/runner cannot be executed") &&
                                 Catch::Contains("orders are lost there"));
}

TEST_CASE("a node that is drained finishes its run, and is given back before the next one",
          "[.][fault]") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  AtWork work(trial, executor);
  test::cluster_command("scontrol update NodeName=" + work.node + " State=DRAIN Reason=trial");
  CHECK(work.result().attempt == "a");
  // A job that was found running is looked at again after half a minute.
  trial.clock().wait(std::chrono::seconds(31), {});
  test::result_of(executor.run(trial.spec("b"), {}));
  CHECK(trial.has_logged("gives node " + work.node + " back: it is drained"));
  CHECK(executor.node() != work.node);
  CHECK(trial.arrived() == 2);
  test::cluster_command("node_resume " + work.node);
}

TEST_CASE("a job that is preempted loses its order alone, which another node carries out",
          "[.][fault]") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  AtWork work(trial, executor);
  REQUIRE(test::cluster_command("sbatch --partition=urgent --exclusive --nodelist=" + work.node +
                                " --output=/dev/null --wrap='sleep 20'") == 0);
  CHECK(test::comes_true([&] { return trial.arrived() == 2; }));
  CHECK(work.result().attempt == "a");
  INFO(trial.logged());
  CHECK(trial.has_logged("an order was lost on node " + work.node));
  test::cluster_command("scancel --partition=urgent");
}

TEST_CASE("a job that somebody requeues stays as it is: it was submitted so", "[.][fault]") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  AtWork work(trial, executor);
  const auto before = trial.jobs();
  CHECK(test::cluster_command("scontrol requeue " + before.substr(0, before.find(' '))) != 0);
  CHECK(work.result().attempt == "a");
  CHECK(trial.jobs() == before);
  CHECK(trial.arrived() == 1);
}

TEST_CASE("two torchwatch on one cluster hold a node each, and touch no job of the other",
          "[.][fault]") {
  test::TrialOfTest one;
  const test::TrialOfTest other;
  SlurmExecutor executor(one.processes(), one.clock(), one.settings());
  AtWork work(one, executor);
  const auto before = one.jobs();
  // A process of its own, as a torchwatch is. It gives its node back when it ends.
  CHECK(test::cluster_command(TORCHWATCH_CLUSTER_CHILD " '" + other.folder.string() + "' 600") ==
        0);
  CHECK(other.arrived() == 1);
  CHECK(test::comes_true([&] { return other.jobs().empty(); }));
  CHECK(work.result().attempt == "a");
  INFO(one.logged());
  CHECK(one.arrived() == 1);
  CHECK(one.jobs() == before);
}

namespace {

/// A disk of its own in the place of a folder, for as long as this lives. Of the trial's mounts
/// alone.
struct Disk {
  Disk(std::string at, const std::string& options) : folder(std::move(at)) {
    REQUIRE(test::cluster_command("mount -t tmpfs -o " + options + " trial '" + folder + "'") == 0);
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  ~Disk() { test::cluster_command("umount '" + folder + "'"); }

  std::string folder;
};

}  // namespace

TEST_CASE("a disk of the nodes that is full or read-only fails no run, and the log says which",
          "[.][fault]") {
  const auto [options, said] = GENERATE(table<std::string, std::string>(
      {{"mode=700,size=4k", "has 4 KiB left"}, {"mode=700,ro", "Read-only file system"}}));
  CAPTURE(options);
  test::TrialOfTest trial;
  test::fs::create_directories(trial.folder / "scratch");
  auto spec = trial.spec("a");
  spec.fresh_copy = true;
  trial.write("build/lib/libtorch_cpu.so", std::string(1 << 20, 'x'));
  {
    const Disk disk((trial.folder / "scratch").string(), options);
    auto settings = trial.settings();
    settings.queue_limit = std::chrono::seconds(60);
    SlurmExecutor executor(trial.processes(), trial.clock(), settings);
    const auto outcome = executor.run(spec, {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == ErrorCode::unavailable);
    INFO(trial.logged());
    CHECK(trial.has_logged(said));
  }
  CHECK(trial.arrived() == 0);
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  test::result_of(executor.run(spec, {}));
}

TEST_CASE("a shared folder that is gone for a while fails no run", "[.][fault]") {
  test::TrialOfTest trial;
  {
    const Disk disk((trial.folder / "build").string(), "size=64k");
    auto settings = trial.settings();
    settings.queue_limit = std::chrono::seconds(60);
    SlurmExecutor executor(trial.processes(), trial.clock(), settings);
    const auto outcome = executor.run(trial.spec("a"), {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == ErrorCode::unavailable);
    INFO(trial.logged());
    CHECK(trial.has_logged((trial.folder / "build" / "lib").string()));
  }
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  test::result_of(executor.run(trial.spec("a"), {}));
}

TEST_CASE("a node whose clock is ten minutes off measures what others do", "[.][fault]") {
  constexpr std::chrono::milliseconds kOff = std::chrono::minutes(10);
  test::TrialOfTest trial;
  const auto late = trial.write(
      "late-carry",
      "#!/bin/sh\nexport LD_PRELOAD=$(echo /usr/lib/*/faketime/libfaketime.so.1) FAKETIME=-600\n"
      "exec '" TORCHWATCH_CARRY "' \"$@\"\n");
  test::fs::permissions(late, test::fs::perms::owner_all);
  const auto look = cluster::look_at_node(
      trial.processes(), trial.clock(),
      {.name = trial.name + "-look", .options = {}, .program = late}, trial.folder / "scratch", {});
  REQUIRE(look);
  constexpr std::chrono::milliseconds kSlack = std::chrono::minutes(2);
  CHECK(std::abs(trial.clock().wall_now() - kOff.count() - look->wall_ms) < kSlack.count());

  executor::LocalExecutor local(trial.processes(), trial.folder / "here", {});
  const auto here = test::result_of(local.run(trial.spec("a"), {}));
  auto settings = trial.settings();
  settings.program = late;
  SlurmExecutor executor(trial.processes(), trial.clock(), settings);
  const auto there = test::result_of(executor.run(trial.spec("a"), {}));
  CHECK(there.samples_ns == here.samples_ns);
  CHECK(trial.arrived() == 2);
}
