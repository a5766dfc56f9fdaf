#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial_result.hpp"

using namespace torchwatch;
using cluster::SlurmExecutor;

namespace {

pid_t start_child(const test::Trial& trial, const std::string& idle) {
  const auto folder = trial.folder.string();
  const pid_t child = fork();
  if (child == 0) {
    execl(TORCHWATCH_CLUSTER_CHILD, TORCHWATCH_CLUSTER_CHILD, folder.c_str(), idle.c_str(),
          nullptr);
    _exit(127);
  }
  return child;
}

void kill_child(pid_t child) {
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
}

}  // namespace

TEST_CASE("a torchwatch that was killed finds its lane again, and ends what its run left",
          "[.][fault]") {
  test::TrialOfTest trial;
  trial.close_gate();
  const pid_t child = start_child(trial, "600");
  REQUIRE(test::comes_true([&] { return trial.arrived() == 1; }));
  const auto before = trial.jobs();
  kill_child(child);
  CHECK(trial.jobs() == before);
  {
    SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
    trial.open_gate();
    CHECK(test::result_of(executor.run(trial.spec("b"), {})).attempt == "b");
    CHECK(trial.jobs() == before);
    const auto job = before.substr(0, before.find(' '));
    // The one of this executor; that of the child has ended.
    CHECK(test::said_by("squeue -h -s -j " + job + " -o '%i' | grep -vc batch") == "1\n");
  }
  CHECK(test::comes_true([&] { return trial.jobs().empty(); }));
}

TEST_CASE("a lane whose torchwatch never comes back ends by itself", "[.][fault]") {
  test::TrialOfTest trial;
  trial.close_gate();
  const pid_t child = start_child(trial, "2");
  REQUIRE(test::comes_true([&] { return trial.arrived() == 1; }));
  REQUIRE_FALSE(trial.jobs().empty());
  kill_child(child);
  trial.open_gate();
  CHECK(test::comes_true([&] { return trial.jobs().empty(); }));
}
