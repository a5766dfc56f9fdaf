#include "torchwatch/cluster/job_runner.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "fake_clock.hpp"
#include "fake_process_runner.hpp"
#include "order_fixture.hpp"

using namespace torchwatch;
using namespace std::chrono_literals;
using cluster::JobRunner;
using orders::ProcessOrder;
using test::recipe;

namespace {

/// A Slurm whose srun prints what is planned, and in whose queue nothing is, but what is planned.
struct FakeCluster {
  test::FakeClock clock;
  std::vector<std::string> queues;  ///< answers of squeue, the next one first
  std::function<process::ProcessOutcome(const ProcessOrder&)> srun;
  std::vector<std::vector<std::string>> calls;
  test::FakeProcessRunner processes{[this](const process::ProcessSpec& spec, std::stop_token) {
    auto call = spec.arguments;
    call.insert(call.begin(), spec.program.string());
    calls.push_back(call);
    if (spec.program == "srun") return srun(orders::parse_process_order(spec.input).value());
    if (spec.program != "squeue" || queues.empty()) return test::ended(process::Exited{0});
    const auto queue = queues.front();
    queues.erase(queues.begin());
    return test::ended(process::Exited{0}, queue);
  }};
  JobRunner jobs{processes,
                 clock,
                 {.name = "torchwatch-1",
                  .options = {"--partition=build"},
                  .program = "/opt/torchwatch-carry"}};

  bool has_called(const std::string& program, const std::string& argument) const {
    return std::ranges::any_of(calls, [&](const auto& call) {
      return call.front() == program && std::ranges::find(call, argument) != call.end();
    });
  }
};

std::function<process::ProcessOutcome(const ProcessOrder&)> ends(process::ProcessEnd end,
                                                                 const std::string& output) {
  return [=](const ProcessOrder& order) {
    return test::ended(process::Exited{0}, "srun: a message\n" +
                                               process_ended_line(order, test::ended(end, output)) +
                                               "srun: another\n");
  };
}

}  // namespace

TEST_CASE("a process is a job with its own name, and ends as its node says, whatever srun says") {
  FakeCluster cluster;
  cluster.srun = ends(process::Exited{125}, "does not build\n\"{\"end\":\"");
  const auto outcome = cluster.jobs.run(recipe());
  CHECK(std::get<process::Exited>(outcome.end).code == 125);
  CHECK(outcome.output == "does not build\n\"{\"end\":\"");
  CHECK(cluster.has_called("srun", "--job-name=torchwatch-1-build-abc"));
  CHECK(cluster.has_called("srun", "--partition=build"));
  CHECK(cluster.has_called("srun", "--time=2"));
  CHECK_FALSE(std::ranges::any_of(cluster.calls, [](const auto& c) { return c[0] == "scancel"; }));
}

TEST_CASE("every end that is the process's own arrives as it was") {
  FakeCluster cluster;
  cluster.srun = ends(process::Signalled{9}, "");
  CHECK(std::get<process::Signalled>(cluster.jobs.run(recipe()).end).signal == 9);
  cluster.srun = ends(process::TimedOut{}, "");
  CHECK(std::holds_alternative<process::TimedOut>(cluster.jobs.run(recipe()).end));
  cluster.srun = ends(process::OutputLimit{}, "");
  CHECK(std::holds_alternative<process::OutputLimit>(cluster.jobs.run(recipe()).end));
  // A node that lacks the program says nothing of the program.
  cluster.srun = ends(process::SpawnFailed{"no such file"}, "");
  const auto lost = cluster.jobs.run(recipe());
  CHECK(std::get<process::Lost>(lost.end).reason == "did not start: no such file");
}

TEST_CASE("a process whose node says nothing of its end is lost, and its job is ended") {
  FakeCluster cluster;
  cluster.queues = {"", "7|RUNNING|1:00|n1|None\n", ""};
  cluster.srun = [](const ProcessOrder&) {
    return test::ended(process::Exited{0}, "srun: error: Node failure on n1\n");
  };
  const auto outcome = cluster.jobs.run(recipe());
  CHECK(std::get<process::Lost>(outcome.end).reason ==
        "srun: error: Node failure on n1 (srun: exit status 0)");
  CHECK(cluster.has_called("scancel", "7"));
}

TEST_CASE("the end of an earlier try is not the end of this one") {
  FakeCluster cluster;
  std::string earlier;
  cluster.srun = [&](const ProcessOrder& order) {
    earlier = process_ended_line(order, test::ended(process::Exited{0}));
    return test::ended(process::Exited{0}, earlier);
  };
  CHECK(process::succeeded(cluster.jobs.run(recipe())));
  cluster.srun = [&](const ProcessOrder&) { return test::ended(process::Exited{0}, earlier); };
  CHECK(std::holds_alternative<process::Lost>(cluster.jobs.run(recipe()).end));
}

TEST_CASE("what a service that was killed has left is ended before a process begins") {
  FakeCluster cluster;
  cluster.queues = {"7|PENDING|1:00||Priority\n", "7|COMPLETING|1:00|n1|None\n", ""};
  cluster.srun = [&](const ProcessOrder& order) {
    CHECK(cluster.queues.empty());
    return ends(process::Exited{0}, "")(order);
  };
  CHECK(process::succeeded(cluster.jobs.run(recipe())));
  CHECK(cluster.has_called("scancel", "7"));
}

TEST_CASE("what Slurm refuses does not start, and a process that is stopped is cancelled") {
  FakeCluster cluster;
  cluster.srun = [](const ProcessOrder&) {
    return test::ended(process::Exited{1},
                       "srun: error: Unable to allocate resources: Invalid partition name\n");
  };
  CHECK(std::get<process::SpawnFailed>(cluster.jobs.run(recipe()).end)
            .reason.starts_with("[slurm] build_options: srun: error: Unable to allocate"));
  cluster.srun = [](const ProcessOrder&) { return test::ended(process::Cancelled{}); };
  CHECK(std::holds_alternative<process::Cancelled>(cluster.jobs.run(recipe()).end));
}
