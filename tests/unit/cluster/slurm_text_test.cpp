#include "torchwatch/cluster/slurm_text.hpp"

#include <catch2/catch.hpp>

// The texts are Slurm's own, of version 22.05.8.

using namespace torchwatch;
using namespace torchwatch::cluster;
using namespace std::chrono_literals;

TEST_CASE("the job's number is the last number that sbatch prints") {
  CHECK(parse_job_id("4711\n").value() == "4711");
  CHECK(parse_job_id("4711;trial\n").value() == "4711");
  CHECK(parse_job_id("Welcome!\n2 nodes are down\n17\n").value() == "17");
  for (const char* const none : {"", "\n", "Submitted\n", "-4\n", "4711 \n"}) {
    CHECK(parse_job_id(none).error().code == ErrorCode::unavailable);
  }
}

TEST_CASE("jobs are read as squeue lists them") {
  const auto jobs = parse_jobs(
      "4|RUNNING|9:58|n1|None\n"
      "5|PENDING|10:00||Resources\n"
      "6|COMPLETING|1-00:00:01|n2|None\n"
      "7|CONFIGURING|UNLIMITED|n3|None\n");
  REQUIRE(jobs);
  REQUIRE(jobs->size() == 4);
  CHECK((*jobs)[0].state == JobState::running);
  CHECK((*jobs)[0].left == 598s);
  CHECK((*jobs)[0].node == "n1");
  CHECK((*jobs)[1].state == JobState::waiting);
  CHECK((*jobs)[1].reason == "Resources");
  CHECK((*jobs)[2].state == JobState::ended);
  CHECK((*jobs)[2].left == 86'401s);
  CHECK((*jobs)[3].state == JobState::waiting);
  CHECK_FALSE((*jobs)[3].left);
  CHECK(parse_jobs("")->empty());
}

TEST_CASE("an answer other than a list of jobs is an error and not an empty queue") {
  const auto jobs = parse_jobs("slurm_load_jobs error: Unable to contact slurm controller\n");
  REQUIRE_FALSE(jobs);
  CHECK(jobs.error().code == ErrorCode::unavailable);
  CHECK(jobs.error().message.find("Unable to contact") != std::string::npos);
}

TEST_CASE("every state in which a job has ended is known, and any other one is waited for") {
  for (const char* const word : {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL",
                                 "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY"}) {
    INFO(word);
    CHECK(parse_jobs("1|" + std::string(word) + "|1:00|n1|None")->front().state == JobState::ended);
  }
  for (const char* const word : {"SUSPENDED", "REQUEUE_HOLD", "A_STATE_OF_SLURM_99"}) {
    CHECK(parse_jobs("1|" + std::string(word) + "|1:00|n1|None")->front().state ==
          JobState::waiting);
  }
}

TEST_CASE("a time that is left is read to the second, and any other text is nothing") {
  CHECK(parse_time_left("0:07") == 7s);
  CHECK(parse_time_left("1:02:03") == 3723s);
  CHECK(parse_time_left("2-00:00:00") == 48h);
  for (const char* const none :
       {"", "UNLIMITED", "INVALID", "NOT_SET", "7", "1:2:3:4", "a:b", "-1:00", "1-2"}) {
    INFO(none);
    CHECK_FALSE(parse_time_left(none));
  }
}

TEST_CASE("a job's own steps are not taken for steps of the service") {
  const auto steps = parse_steps("4.2|tok2\n4.batch|batch\n4.extern|extern\n4.10|a|b\n");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].id == "4.2");
  CHECK(steps[0].name == "tok2");
  CHECK(steps[1].id == "4.10");
}

TEST_CASE("what Slurm's programs say shows who is to blame") {
  const std::pair<const char*, Cause> messages[] = {
      {"srun: error: Node failure on n1", Cause::node},
      {"srun: error: Task launch for StepId=4.0 failed on node n1: Communication connection "
       "failure",
       Cause::node},
      {"srun: error: Slurm job 4 has expired", Cause::job_gone},
      {"srun: error: Unable to confirm allocation for job 999: Invalid job id specified",
       Cause::job_gone},
      {"slurmstepd-n1: error: *** STEP 4.2 ON n1 CANCELLED AT 2026-11-25T07:00:47 DUE TO TIME "
       "LIMIT ***",
       Cause::job_gone},
      {"slurmstepd-n1: error: *** JOB 4 ON n1 CANCELLED AT 2026-11-25T07:00:47 DUE TO PREEMPTION "
       "***",
       Cause::job_gone},
      {"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect "
       "failure)",
       Cause::unreachable},
      {"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
       Cause::unreachable},
      {"srun: error: Unable to create step for job 4: Requested nodes are busy",
       Cause::unreachable},
      {"sbatch: error: Batch job submission failed: Invalid partition name specified",
       Cause::refused},
      {"sbatch: error: Batch job submission failed: Invalid feature specification", Cause::refused},
      {"sbatch: error: Batch job submission failed: Invalid account or account/partition "
       "combination specified",
       Cause::refused},
      {"sbatch: error: Batch job submission failed: Invalid qos specification", Cause::refused},
      {"sbatch: error: QOSMaxWallDurationPerJobLimit\n"
       "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit "
       "limit, user's size and/or time limits)",
       Cause::refused},
      {"sbatch: error: AssocMaxSubmitJobLimit\n"
       "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit "
       "limit, user's size and/or time limits)",
       Cause::unreachable},
      {"srun: error: QOSMaxSubmitJobPerUserLimit\n"
       "srun: error: Unable to allocate resources: Job violates accounting/QOS policy (job submit "
       "limit, user's size and/or time limits)",
       Cause::unreachable},
      {"srun: error: Unable to allocate resources: Invalid qos specification", Cause::refused},
      {"slurmstepd: error: Detected 1 oom-kill event(s) in StepId=4.0. Some of your processes may "
       "have been killed",
       Cause::memory},
      {"srun: error: n1: task 0: Out Of Memory", Cause::memory},
      {"srun: error: n1: task 0: Killed", Cause::unknown},
      {"", Cause::unknown}};
  for (const auto& [text, cause] : messages) {
    INFO(text);
    CHECK(cause_of(text) == cause);
  }
}

TEST_CASE("a limit on one job is hopeless, one on all jobs together is waited for") {
  for (const char* const never :
       {"AssocMaxWallDurationPerJobLimit", "AssocMaxCpuPerJobLimit", "AssocMaxNodePerJobLimit",
        "AssocMaxCpuMinutesPerJobLimit", "AssocMaxGRESPerJob", "AssocMaxCpuPerNode",
        "QOSMaxWallDurationPerJobLimit", "QOSMaxCpuPerJobLimit", "QOSMaxCpuMinutesPerJobLimit",
        "QOSMaxMemoryPerNode", "QOSMinCpuNotSatisfied", "QOSMinGRES", "InvalidAccount",
        "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed",
        "Job's account not permitted to use this partition (urgent allows others not measure)",
        "Job's QOS not permitted to use this partition (urgent allows forbidden not normal)"}) {
    INFO(never);
    CHECK(is_hopeless(never));
  }
  for (const char* const later :
       {"AssocMaxJobsLimit", "AssocGrpJobsLimit", "AssocGrpCpuLimit", "AssocGrpWallLimit",
        "QOSMaxJobsPerUserLimit", "QOSGrpJobsLimit", "QOSGrpCpuLimit", "QOSMaxCpuPerUserLimit",
        "QOSGrpCPUMinutesLimit", "QOSUsageThreshold", "Resources", "Priority", "None",
        "ReqNodeNotAvail, UnavailableNodes:n1", ""}) {
    INFO(later);
    CHECK_FALSE(is_hopeless(later));
  }
}

TEST_CASE("a message for people is the last line, printable and short") {
  CHECK(last_message("first\nlast\n\n") == "last");
  CHECK(last_message("") == "no message");
  CHECK(last_message("why\nsrun: error: n1: task 0: Exited with exit code 2\n") == "why");
  CHECK(last_message("sbatch: error: QOSGrpSubmitJobsLimit\n"
                     "sbatch: error: Batch job submission failed: Job violates accounting/QOS "
                     "policy (job submit limit, user's size and/or time limits)\n") ==
        "sbatch: error: QOSGrpSubmitJobsLimit");
  CHECK(last_message("a\x1b[31mb") == "a?[31mb");
  CHECK(last_message(std::string(5000, 'x')).size() == 300);
}
