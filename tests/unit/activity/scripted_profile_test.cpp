// The whole profile pass on a machine whose GPU is scripted.
#include <catch2/catch.hpp>

#include "fake_gpu.hpp"
#include "torchwatch/activity/profile.hpp"

using namespace torchwatch;
using namespace torchwatch::activity;

namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

/// A workload that copies 2 ms, computes 5 ms (1 ms of which hides a second copy's first), and
/// leaves the device idle for 2 ms: 10 ms in all, by both clocks.
class ScriptedWorkload {
 public:
  ScriptedWorkload() : cuda_(test::fresh_cuda()), cupti(test::fresh_cupti(FAKE_CUPTI)) {}

  Result<Profile> profile(int warmup = 2, int iterations = 3) {
    auto trace = Trace::begin({{FAKE_CUDA}, {FAKE_CUPTI}});
    REQUIRE(trace.has_value());
    return activity::profile(
        **trace, {.step = [this] { step(); }, .synchronise = [this] { ++waits; }}, warmup,
        iterations, [this] { return static_cast<std::int64_t>(monotonic); });
  }

  int steps = 0;
  int waits = 0;
  std::uint64_t monotonic = 500;
  std::function<void(int step)> disturb = [](int) {};

 private:
  test::FakeCuda& cuda_;

 public:
  test::FakeCupti& cupti;

 private:
  void step() {
    const auto now = cupti.now_ns;
    const auto at = [&](std::uint64_t milliseconds) { return now + milliseconds * kMillisecond; };
    cupti.pending.push_back(
        {.kind = 1, .start = at(0), .end = at(2), .copy_kind = 1, .bytes = 1'000'000});
    cupti.pending.push_back({.kind = 10, .start = at(2), .end = at(7)});
    cupti.pending.push_back(
        {.kind = 1, .start = at(6), .end = at(8), .copy_kind = 2, .bytes = 1'000, .stream = 8});
    cupti.now_ns = at(10);
    monotonic += 10 * kMillisecond;
    disturb(steps++);
  }
};

std::string refusal(ScriptedWorkload& workload) {
  const auto profile = workload.profile();
  REQUIRE_FALSE(profile.has_value());
  return profile.error().message;
}

bool says(const std::string& text, const char* what) {
  INFO(text);
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a workload of known truth is broken down exactly") {
  ScriptedWorkload workload;
  const auto profile = workload.profile();
  REQUIRE(profile.has_value());
  CHECK(workload.steps == 5);
  CHECK(workload.waits == 4);
  const auto& [shares, copy_total, overlap, memset, within, bytes, kernels, clipped] =
      profile->breakdown;
  CHECK(shares.active_ns == 5'000'000);
  CHECK(shares.copy_ns == 3'000'000);
  CHECK(shares.idle_ns == 2'000'000);
  CHECK(copy_total == 4'000'000);
  CHECK(overlap == 1'000'000);
  CHECK(memset == 0);
  CHECK(within == 0);
  CHECK(bytes.at(Kind::host_to_device) == 1'000'000);
  CHECK(bytes.at(Kind::device_to_host) == 1'000);
  CHECK(kernels == 1);
  CHECK(clipped == 0);
  CHECK(profile->iteration.wall_ns == 10'000'000);
  CHECK(profile->median_shares.active == 500'000);
  CHECK(profile->activities.size() == 3);
}

TEST_CASE("records of the warm-up are discarded") {
  ScriptedWorkload workload;
  workload.disturb = [&](int step) {
    if (step < 2) workload.cupti.pending.back().end = 0;
  };
  CHECK(workload.profile().has_value());
}

TEST_CASE("a lost, broken or missing record makes the breakdown invalid") {
  ScriptedWorkload workload;
  workload.disturb = [&](int step) {
    if (step == 3) workload.cupti.dropped = 1;
  };
  CHECK(says(refusal(workload), "CUPTI dropped 1 record:"));
  workload.steps = 0;
  workload.disturb = [&](int step) {
    if (step == 3) workload.cupti.pending.back().end = 0;
  };
  CHECK(says(refusal(workload), "without times"));
  workload.steps = 0;
  workload.disturb = [&](int) { workload.cupti.pending.clear(); };
  CHECK(says(refusal(workload), "no record of an iteration that ran"));
}

TEST_CASE("a wall clock set during an iteration makes the breakdown invalid") {
  ScriptedWorkload workload;
  workload.disturb = [&](int step) {
    if (step == 3) workload.cupti.now_ns += 5 * kMillisecond;
  };
  CHECK(says(refusal(workload), "the wall clock, which was set meanwhile"));
}

TEST_CASE("a CUPTI that stops answering is an error, not an empty breakdown") {
  ScriptedWorkload workload;
  workload.disturb = [&](int step) {
    if (step == 4) workload.cupti.flush_answer = 999;
  };
  CHECK(says(refusal(workload), "cuptiActivityFlushAll: CUPTI error 999"));
}

TEST_CASE("what a workload throws passes through, and the next trace can begin") {
  ScriptedWorkload workload;
  workload.disturb = [](int) { throw std::runtime_error("no"); };
  CHECK_THROWS_AS(workload.profile(), std::runtime_error);
  workload.disturb = [](int) {};
  workload.cupti.pending.clear();
  CHECK(workload.profile().has_value());
}
