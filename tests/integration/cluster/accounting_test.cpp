// Accounts, QOS and their limits: of a Slurm that enforces them, but for the last test.
#include "run_at_work.hpp"
#include "torchwatch/cluster/job_runner.hpp"

using namespace torchwatch;
using Catch::Contains;
using cluster::SlurmExecutor;
using test::AtWork;

namespace {

const std::string kUser = "sacctmgr -i modify user root where account=measure set ";
const std::string kLow = "sacctmgr -i modify qos low set ";
const std::string kUrgent = "scontrol update PartitionName=urgent ";

/// What an administrator sets for as long as this lives.
struct Setting {
  Setting(const std::string& command, std::string back) : back_(std::move(back)) {
    REQUIRE(test::cluster_command(command) == 0);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { test::cluster_command(back_); }

 private:
  std::string back_;
};

SlurmExecutor::Settings settings_with(const test::TrialOfTest& trial,
                                      const std::vector<std::string>& options) {
  auto settings = trial.settings();
  settings.options.insert(settings.options.end(), options.begin(), options.end());
  return settings;
}

/// Returns what a run says that could not take place, and left neither a job nor anything else.
std::string failure_of(SlurmExecutor& executor, const test::TrialOfTest& trial) {
  const auto outcome = executor.run(trial.spec("a"), {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::unavailable);  // no comparison ends by it
  CHECK(trial.jobs().empty());
  CHECK(trial.arrived() == 0);
  return outcome.error().text();
}

bool answers_accounting() {
  return test::cluster_command("sacctmgr show cluster") == 0;
}

}  // namespace

TEST_CASE("an account and a QOS that the user may use measure, in that name", "[.][accounting]") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(),
                         settings_with(trial, {"--account=measure", "--qos=low"}));
  test::result_of(executor.run(trial.spec("a"), {}));
  CHECK(test::said_by("squeue -h -o '%a %q' -n " + trial.name) == "measure low\n");
}

TEST_CASE("an account or a QOS that is unknown, or not the user's, is an error at once",
          "[.][accounting]") {
  const auto [option, said] = GENERATE(
      table<std::string, std::string>({{"--account=of-nobody", "Invalid account or account/"},
                                       {"--account=others", "Invalid account or account/"},
                                       {"--qos=of-nobody", "Invalid qos specification"},
                                       {"--qos=forbidden", "Invalid qos specification"}}));
  CAPTURE(option);
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), settings_with(trial, {option}));
  CHECK_THAT(failure_of(executor, trial), Contains("[slurm]") && Contains(said));
}

TEST_CASE("a build that asks for a QOS of nobody has not begun, and says why", "[.][accounting]") {
  test::TrialOfTest trial;
  cluster::JobRunner jobs(trial.processes(), trial.clock(),
                          {.name = trial.name,
                           .options = {"--qos=of-nobody"},
                           .program = TORCHWATCH_CARRY,
                           .queue_limit = std::chrono::seconds(150)});
  process::ProcessSpec spec{};
  spec.program = "/bin/true";
  spec.working_folder = "/";
  spec.time_limit = std::chrono::seconds(60);
  spec.label = "build";
  const auto outcome = jobs.run(spec, {});
  CHECK(std::holds_alternative<process::SpawnFailed>(outcome.end));
  CHECK_THAT(process::describe(outcome.end),
             Contains("[slurm] build_options") && Contains("Invalid qos specification"));
}

TEST_CASE("a limit that no such job keeps is an error at once, and measures when it is lifted",
          "[.][accounting]") {
  const auto [command, back, option, said] =
      GENERATE(table<std::string, std::string, std::string, std::string>(
          {{kUser + "maxwall=5", kUser + "maxwall=-1", "--qos=normal",
            "AssocMaxWallDurationPerJobLimit"},
           {kUser + "maxtresperjob=node=0", kUser + "maxtresperjob=node=-1", "--qos=normal",
            "AssocMaxNodePerJobLimit"},
           {kLow + "maxwall=5", kLow + "maxwall=-1", "--qos=low", "QOSMaxWallDurationPerJobLimit"},
           {kLow + "mintresperjob=cpu=4096", kLow + "mintresperjob=cpu=-1", "--qos=low",
            "QOSMinCpuNotSatisfied"},
           {kUrgent + "AllowAccounts=others", kUrgent + "AllowAccounts=ALL", "--partition=urgent",
            "account not permitted to use this partition (urgent allows others not measure)"},
           {kUrgent + "AllowQos=forbidden", kUrgent + "AllowQos=ALL", "--partition=urgent",
            "QOS not permitted to use this partition (urgent allows forbidden not normal)"}}));
  CAPTURE(command);
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), settings_with(trial, {option}));
  {
    const Setting setting(command, back);
    CHECK_THAT(failure_of(executor, trial),
               Contains("Slurm never starts the job") && Contains(said) && Contains("correct "));
  }
  test::result_of(executor.run(trial.spec("b"), {}));
}

TEST_CASE("a limit by which sbatch refuses is named", "[.][accounting]") {
  const Setting setting(kLow + "flags=DenyOnLimit maxwall=5", kLow + "flags=-1 maxwall=-1");
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), settings_with(trial, {"--qos=low"}));
  CHECK_THAT(failure_of(executor, trial),
             Contains("[slurm]") && Contains("QOSMaxWallDurationPerJobLimit"));
}

TEST_CASE("a limit on all jobs together is waited for until another one ends", "[.][accounting]") {
  const auto [command, back, reason] = GENERATE(table<std::string, std::string, std::string>(
      {{kUser + "maxjobs=1", kUser + "maxjobs=-1", "AssocMaxJobsLimit"},
       {kUser + "maxsubmitjobs=1", kUser + "maxsubmitjobs=-1", "AssocMaxSubmitJobLimit"},
       {kLow + "grpjobs=1", kLow + "grpjobs=-1", "QOSGrpJobsLimit"},
       {kLow + "maxsubmitjobsperuser=1", kLow + "maxsubmitjobsperuser=-1",
        "QOSMaxSubmitJobPerUserLimit"}}));
  CAPTURE(command);
  const Setting setting(command, back);
  test::TrialOfTest one;
  test::TrialOfTest other;
  SlurmExecutor holds(one.processes(), one.clock(), settings_with(one, {"--qos=low"}));
  SlurmExecutor waits(other.processes(), other.clock(), settings_with(other, {"--qos=low"}));
  test::result_of(holds.run(one.spec("a"), {}));
  auto run = std::async(std::launch::async, [&] { return waits.run(other.spec("b"), {}); });
  CHECK(test::comes_true([&, part = reason] { return other.has_logged(part); }));
  CHECK(other.arrived() == 0);
  CHECK(holds.release());
  CHECK(test::result_of(run.get()).attempt == "b");
  CHECK_THAT(other.logged(), Contains("waiting for a node: ") && Contains("holds node n"));
}

TEST_CASE("an account without any jobs left is waited for as long as queue_limit says",
          "[.][accounting]") {
  const Setting setting(kUser + "grpjobs=0", kUser + "grpjobs=-1");
  test::TrialOfTest trial;
  auto settings = trial.settings();
  settings.queue_limit = std::chrono::seconds(3);
  {
    SlurmExecutor executor(trial.processes(), trial.clock(), settings);
    const auto outcome = executor.run(trial.spec("a"), {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == ErrorCode::unavailable);
    CHECK_THAT(outcome.error().text(), Contains("no node of the cluster for 3 s: job ") &&
                                           Contains("is PENDING (AssocGrpJobsLimit)"));
  }
  CHECK(test::comes_true([&] { return trial.jobs().empty(); }));
}

TEST_CASE("a QOS that is taken away while the job waits is an error", "[.][accounting]") {
  REQUIRE(test::cluster_command("sacctmgr -i add qos passing set grpjobs=0") == 0);
  REQUIRE(test::cluster_command(kUser + "qos+=passing") == 0);
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), settings_with(trial, {"--qos=passing"}));
  auto said = std::async(std::launch::async, [&] { return executor.run(trial.spec("a"), {}); });
  CHECK(test::comes_true([&] { return trial.has_logged("PENDING (QOSGrpJobsLimit)"); }));
  REQUIRE(test::cluster_command("sacctmgr -i remove qos passing") == 0);
  const auto outcome = said.get();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::unavailable);
  CHECK_THAT(outcome.error().text(), Contains("Slurm never starts the job of [slurm]: InvalidQOS"));
  CHECK(trial.jobs().empty());
}

TEST_CASE("accounting that dies in a run stops neither it nor the next job", "[.][accounting]") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), settings_with(trial, {"--qos=low"}));
  AtWork work(trial, executor);
  const auto before = trial.jobs();
  REQUIRE(test::cluster_command("accounting_kill") == 0);
  CHECK(test::comes_true([] { return !answers_accounting(); }));
  CHECK(work.result().attempt == "a");
  REQUIRE(executor.release());
  CHECK(test::result_of(executor.run(trial.spec("b"), {})).attempt == "b");
  CHECK(trial.jobs() != before);
  CHECK_FALSE(answers_accounting());
  REQUIRE(test::cluster_command("accounting_start") == 0);
  CHECK(test::comes_true(answers_accounting));
}

// A controller may not start without accounting, as it keeps what it knows only now and then.
TEST_CASE("a controller that dies together with accounting is waited for", "[.][accounting]") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(), trial.settings());
  AtWork work(trial, executor);
  REQUIRE(test::cluster_command("accounting_kill") == 0);
  REQUIRE(test::cluster_command("controller_kill KILL") == 0);
  CHECK(work.result().attempt == "a");
  REQUIRE(executor.release().error().code == ErrorCode::unavailable);
  auto next = std::async(std::launch::async, [&] { return executor.run(trial.spec("b"), {}); });
  CHECK(test::comes_true([&] { return trial.has_logged("Unable to contact slurm controller"); }));
  REQUIRE(test::cluster_command("accounting_start") == 0);
  CHECK(test::comes_true(answers_accounting));
  REQUIRE(test::cluster_command("controller_start") == 0);
  CHECK(test::result_of(next.get()).attempt == "b");
  CHECK(trial.arrived() == 2);
}

TEST_CASE("any account and QOS measure where Slurm does not account", "[.][fault]") {
  test::TrialOfTest trial;
  SlurmExecutor executor(trial.processes(), trial.clock(),
                         settings_with(trial, {"--account=of-nobody", "--qos=of-nobody"}));
  CHECK(test::result_of(executor.run(trial.spec("a"), {})).attempt == "a");
}
