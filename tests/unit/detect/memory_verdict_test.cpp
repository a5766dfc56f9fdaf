#include "torchwatch/detect/memory_verdict.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace torchwatch;
using namespace torchwatch::detect;

namespace {

using Runs = std::vector<std::int64_t>;
constexpr std::int64_t kMiB = 1 << 20;

MemoryDecision peak(const Runs& baseline, const Runs& candidate, Metric metric = Metric::cpu_peak) {
  return judge_peak(metric, baseline, candidate, Settings{});
}
MemoryDecision leak(const Runs& baseline, const Runs& candidate,
                    Metric metric = Metric::leak_growth) {
  return judge_leak(metric, baseline, candidate, Settings{});
}

}  // namespace

TEST_CASE("one run a side gives neither a verdict nor a suspicion") {
  for (const auto& decision :
       {peak({100 * kMiB}, {200 * kMiB}), peak({}, {}), leak({0}, {4096}), leak({}, {4096})}) {
    CHECK(decision.verdict == Verdict::inconclusive);
    CHECK_FALSE(decision.suspect);
    CHECK(decision.reason.find("two a side are needed") != std::string::npos);
  }
}

TEST_CASE("two runs a side screen: equal ones are unchanged, others are to be confirmed") {
  CHECK(peak({100 * kMiB, 100 * kMiB}, {100 * kMiB, 100 * kMiB}).verdict == Verdict::unchanged);
  const auto decision = peak({100 * kMiB, 100 * kMiB}, {120 * kMiB, 120 * kMiB});
  CHECK(decision.suspect);
  CHECK(decision.verdict == Verdict::inconclusive);
  CHECK(peak({100 * kMiB, 100 * kMiB}, {100 * kMiB, 120 * kMiB}).suspect);
}

TEST_CASE("three runs a side that agree are a verdict with the ratio of what was measured") {
  const Runs before(3, 100 * kMiB);
  const Runs after(3, 120 * kMiB);
  const auto decision = peak(before, after);
  CHECK(decision.verdict == Verdict::regressed);
  CHECK_FALSE(decision.suspect);
  CHECK(decision.ratio == 1.2);
  CHECK(decision.low == 1.2);
  CHECK(decision.high == 1.2);
  CHECK(decision.reason == "+20.0 %, 104,857,600 to 125,829,120 bytes, 3 + 3 runs");
  CHECK(peak(after, before).verdict == Verdict::improved);
}

TEST_CASE("a growth of exactly the threshold or the floor is not a regression") {
  CHECK(peak(Runs(3, 100'000'000), Runs(3, 107'000'000)).verdict == Verdict::unchanged);
  CHECK(peak(Runs(3, 100'000'000), Runs(3, 107'000'001)).verdict == Verdict::regressed);
  CHECK(peak(Runs(3, kMiB), Runs(3, 2 * kMiB)).verdict == Verdict::unchanged);
  CHECK(peak(Runs(3, kMiB), Runs(3, 2 * kMiB + 1)).verdict == Verdict::regressed);
}

TEST_CASE("resident peaks have a higher floor") {
  const Runs before(3, 10 * kMiB);
  const Runs after(3, 13 * kMiB);
  CHECK(peak(before, after, Metric::cpu_peak).verdict == Verdict::regressed);
  CHECK(peak(before, after, Metric::cpu_peak_resident).verdict == Verdict::unchanged);
}

TEST_CASE("runs of one build that disagree give no verdict") {
  const auto decision =
      peak({100 * kMiB, 100 * kMiB, 130 * kMiB}, {120 * kMiB, 120 * kMiB, 120 * kMiB});
  CHECK(decision.verdict == Verdict::inconclusive);
  CHECK(decision.reason.find("disagree") != std::string::npos);
}

TEST_CASE("a peak that was zero before is judged by its bytes") {
  const auto decision = peak(Runs(3, 0), Runs(3, 8 * kMiB));
  CHECK(decision.verdict == Verdict::regressed);
  CHECK(decision.ratio == 0);
  CHECK(decision.reason == "0 to 8,388,608 bytes, 3 + 3 runs");
  CHECK(peak(Runs(3, 0), Runs(3, 0)).verdict == Verdict::unchanged);
}

TEST_CASE("a leak is exact, and its floor itself already counts") {
  const auto decision = leak(Runs(3, 0), Runs(3, 4096));
  CHECK(decision.verdict == Verdict::regressed);
  CHECK(decision.candidate_value == 4096);
  CHECK(decision.baseline_value == 0);
  CHECK(decision.ratio == 0);
  CHECK(decision.reason == "+4,096 bytes per iteration, 3 + 3 runs");
  CHECK(leak(Runs(3, 0), Runs(3, 64)).verdict == Verdict::regressed);
  CHECK(leak(Runs(3, 0), Runs(3, 63)).verdict == Verdict::unchanged);
  CHECK(leak(Runs(3, 4096), Runs(3, 4096)).verdict == Verdict::unchanged);
  CHECK(leak(Runs(3, 4096), Runs(3, 0)).verdict == Verdict::improved);
}

TEST_CASE("growth of the heap has its own floor and must be a quarter more") {
  const auto heap = [](std::int64_t before, std::int64_t after) {
    return leak(Runs(3, before), Runs(3, after), Metric::heap_growth);
  };
  CHECK(heap(0, 1023).verdict == Verdict::unchanged);
  CHECK(heap(0, 1024).verdict == Verdict::regressed);
  CHECK(heap(0, 1024).reason == "+1,024 bytes per iteration, 3 + 3 runs");
  CHECK(heap(1024, 0).verdict == Verdict::improved);
  CHECK(heap(100'000, 125'000).verdict == Verdict::unchanged);
  CHECK(heap(100'000, 125'001).verdict == Verdict::regressed);
}

TEST_CASE("retained bytes have their own floor") {
  CHECK(leak(Runs(3, 0), Runs(3, 65'535), Metric::leak_retained).verdict == Verdict::unchanged);
  CHECK(leak(Runs(3, 0), Runs(3, 65'536), Metric::leak_retained).verdict == Verdict::regressed);
}
