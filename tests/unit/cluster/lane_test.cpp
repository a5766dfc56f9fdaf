#include "torchwatch/cluster/lane.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>

using namespace torchwatch::cluster;
using namespace std::chrono_literals;

namespace {

Job job(const std::string& id, JobState state, std::optional<std::chrono::seconds> left = 1h,
        const std::string& reason = "None") {
  return {.id = id, .state = state, .word = "", .left = left, .node = "n1", .reason = reason};
}

std::vector<std::string> cancelled(const LaneStep& step) {
  const auto* cancel = std::get_if<CancelJobs>(&step);
  return cancel == nullptr ? std::vector<std::string>() : cancel->ids;
}

}  // namespace

TEST_CASE("a lane without a job asks for one, and one that has ended does not count") {
  CHECK(std::holds_alternative<SubmitJob>(next_step({}, 60s)));
  CHECK(std::holds_alternative<SubmitJob>(next_step({job("1", JobState::ended)}, 60s)));
}

TEST_CASE("a job that runs is used if it has enough time left, and given back if not") {
  const auto use = next_step({job("1", JobState::running, 60s)}, 60s);
  REQUIRE(std::holds_alternative<UseJob>(use));
  CHECK(std::get<UseJob>(use).job.id == "1");
  CHECK(std::holds_alternative<UseJob>(next_step({job("1", JobState::running, {})}, 60s)));
  CHECK(cancelled(next_step({job("1", JobState::running, 59s)}, 60s)) ==
        std::vector<std::string>{"1"});
}

TEST_CASE("a job that waits is waited for, unless what it waits for never comes") {
  const auto wait = next_step({job("1", JobState::waiting, 1h, "Resources")}, 60s);
  REQUIRE(std::holds_alternative<WaitForJob>(wait));
  for (const char* const reason :
       {"BadConstraints", "InvalidAccount", "InvalidQOS", "PartitionTimeLimit"}) {
    CHECK(std::holds_alternative<HopelessJob>(
        next_step({job("1", JobState::waiting, 1h, reason)}, 60s)));
  }
}

TEST_CASE("of two jobs, made by a submission that seemed to fail, the older one stays") {
  CHECK(cancelled(next_step({job("10", JobState::running), job("9", JobState::running)}, 60s)) ==
        std::vector<std::string>{"10"});
  CHECK(cancelled(next_step({job("9", JobState::waiting), job("10", JobState::running)}, 60s)) ==
        std::vector<std::string>{"9"});
}

TEST_CASE("whatever jobs there are, following the steps ends with one job that runs") {
  CHECK(rc::check("a lane settles", [] {
    std::vector<Job> jobs;
    const auto count = *rc::gen::inRange(0, 5);
    for (int i = 0; i < count; ++i) {
      const auto state = static_cast<JobState>(*rc::gen::inRange(0, 3));
      jobs.push_back(
          job(std::to_string(8 + i), state, std::chrono::seconds(*rc::gen::inRange(0, 120))));
    }
    int submitted = 0;
    for (int steps = 0; steps < 20; ++steps) {
      const auto step = next_step(jobs, 60s);
      if (std::holds_alternative<UseJob>(step)) {
        RC_ASSERT(submitted <= 1);
        return;
      }
      for (const auto& id : cancelled(step)) {
        std::erase_if(jobs, [&](const Job& each) { return each.id == id; });
      }
      if (std::holds_alternative<SubmitJob>(step)) {
        jobs.push_back(job(std::to_string(100 + submitted++), JobState::waiting));
      }
      if (std::holds_alternative<WaitForJob>(step)) {
        const auto id = std::get<WaitForJob>(step).job.id;
        for (auto& each : jobs) {
          if (each.id == id) each = job(id, JobState::running);
        }
      }
    }
    RC_FAIL("it does not settle");
  }));
}
