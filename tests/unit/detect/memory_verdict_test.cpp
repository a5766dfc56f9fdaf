#include "torchwatch/detect/memory_verdict.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace torchwatch;
using namespace torchwatch::detect;

namespace {

using Runs = std::vector<std::int64_t>;
constexpr std::int64_t kMiB = 1 << 20;

MemoryDecision peak(const Runs& baseline, const Runs& candidate, Metric metric = Metric::cpu_peak) {
  return judge_peak(metric, {.baseline = baseline, .candidate = candidate}, Settings{});
}
/// Runs of one build that differ by a byte, so that the peak is not exact.
Runs differing(std::int64_t bytes) {
  return {bytes, bytes, bytes + 1};
}
MemoryDecision confirmed(const Runs& screened_before, const Runs& screened_after,
                         const Runs& before, const Runs& after, Metric metric = Metric::cpu_peak) {
  return confirm_peak(metric, {.baseline = screened_before, .candidate = screened_after},
                      {.baseline = before, .candidate = after}, Settings{});
}
MemoryDecision leak(const Runs& baseline, const Runs& candidate,
                    Metric metric = Metric::leak_growth) {
  return judge_leak(metric, baseline, candidate, Settings{});
}

}  // namespace

TEST_CASE("what is searched of an exact series has its threshold and its floor") {
  Settings settings;
  settings.exact_floor_bytes = 4096;
  const auto exact = settings_of_exact(settings);
  CHECK(exact.threshold == settings.exact_threshold);
  CHECK(exact.gate < exact.threshold);
  CHECK(floor_bytes(Metric::cpu_peak, exact) == 4096);
  CHECK(floor_bytes(Metric::cpu_peak_resident, exact) == settings.resident_floor_bytes);
}

TEST_CASE("one run a side gives neither a verdict nor a suspicion") {
  for (const auto& decision :
       {peak({100 * kMiB}, {200 * kMiB}), peak({}, {}), leak({0}, {4096}), leak({}, {4096})}) {
    CHECK(decision.verdict == Verdict::inconclusive);
    CHECK_FALSE(decision.suspect);
    CHECK(decision.reason.find("two a side are needed") != std::string::npos);
  }
}

TEST_CASE("one run a side is enough where counted figures are equal and sampled ones close") {
  const auto alike = [](Metric metric, std::int64_t before, std::int64_t after) {
    const auto decision = judge_alike(metric, before, after, Settings{});
    const auto back = judge_alike(metric, after, before, Settings{});
    CHECK(decision.has_value() == back.has_value());
    if (decision) CHECK(decision->verdict == Verdict::unchanged);
    return decision.has_value();
  };
  for (const auto metric : {Metric::cpu_peak, Metric::device_peak, Metric::leak_growth,
                            Metric::leak_retained, Metric::output_difference}) {
    CHECK(alike(metric, 100 * kMiB, 100 * kMiB));
    CHECK_FALSE(alike(metric, 100 * kMiB, 100 * kMiB + 1));
  }
  for (const auto metric : {Metric::cpu_peak_resident, Metric::device_peak_total}) {
    CHECK(alike(metric, 100 * kMiB, 103 * kMiB));  // less than half of 7 %
    CHECK_FALSE(alike(metric, 100 * kMiB, 104 * kMiB));
    CHECK(alike(metric, 10 * kMiB, 12 * kMiB));  // half of the floor
    CHECK_FALSE(alike(metric, 10 * kMiB, 13 * kMiB));
  }
  CHECK(alike(Metric::heap_growth, 0, 512 - 1));
  CHECK_FALSE(alike(Metric::heap_growth, 0, 512));
  const auto same = judge_alike(Metric::cpu_peak, 5 * kMiB, 5 * kMiB, Settings{});
  CHECK(same->ratio == 1);
  CHECK(same->baseline_value == 5 * kMiB);
  CHECK_THAT(same->reason, Catch::Contains("1 + 1 runs"));
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
  CHECK(decision.reason == "exactly +20.0 %, 104,857,600 to 125,829,120 bytes, 3 + 3 runs");
  CHECK(peak(after, before).verdict == Verdict::improved);
}

TEST_CASE("a sampled peak that grew by just the threshold or the floor is not a regression") {
  const auto resident = [](std::int64_t before, std::int64_t after) {
    return peak(Runs(3, before), Runs(3, after), Metric::cpu_peak_resident).verdict;
  };
  CHECK(resident(100'000'000, 107'000'000) == Verdict::unchanged);
  CHECK(resident(100'000'000, 107'000'001) == Verdict::regressed);
  CHECK(resident(kMiB, 5 * kMiB) == Verdict::unchanged);
  CHECK(resident(kMiB, 5 * kMiB + 1) == Verdict::regressed);
}

TEST_CASE("an exact peak regresses from two per cent on, and improves likewise") {
  const auto change = [](std::int64_t from, std::int64_t to) {
    const auto decision = peak(Runs(3, from), Runs(3, to));
    CHECK(decision.is_exact);
    return decision.verdict;
  };
  for (const std::int64_t low : {100 * kMiB, std::int64_t{100'000'000}, 40'000 * kMiB}) {
    const std::int64_t at = low / 50;
    CAPTURE(low);
    CHECK(change(low, low + at - 1) == Verdict::unchanged);
    CHECK(change(low, low + at) == Verdict::regressed);
    CHECK(change(low, low + at + 1) == Verdict::regressed);
    CHECK(change(low + at - 1, low) == Verdict::unchanged);
    CHECK(change(low + at, low) == Verdict::improved);
    CHECK(change(low, low) == Verdict::unchanged);
  }
  const auto planted = peak(Runs(4, 100 * kMiB), Runs(4, 106'300 * kMiB / 1000));
  CHECK(planted.verdict == Verdict::regressed);
  CHECK(planted.reason == "exactly +6.3 %, 104,857,600 to 111,463,628 bytes, 4 + 4 runs");
}

TEST_CASE("an exact peak must grow by a MiB as well, and just a MiB counts") {
  for (const std::int64_t low : {std::int64_t{0}, kMiB, 20 * kMiB}) {
    CAPTURE(low);
    CHECK(peak(Runs(3, low), Runs(3, low + kMiB - 1)).verdict == Verdict::unchanged);
    CHECK(peak(Runs(3, low), Runs(3, low + kMiB)).verdict == Verdict::regressed);
    CHECK(peak(Runs(3, low + kMiB), Runs(3, low)).verdict == Verdict::improved);
  }
}

TEST_CASE("the threshold and the floor of exact peaks are settings") {
  Settings settings;
  settings.exact_threshold = 0.005;
  settings.exact_floor_bytes = 1000;
  const auto verdict = [&](std::int64_t from, std::int64_t to) {
    const Runs before(3, from);
    const Runs after(3, to);
    return judge_peak(Metric::device_peak, {.baseline = before, .candidate = after}, settings)
        .verdict;
  };
  CHECK(verdict(1'000'000, 1'004'999) == Verdict::unchanged);
  CHECK(verdict(1'000'000, 1'005'000) == Verdict::regressed);
  CHECK(verdict(100'000, 100'999) == Verdict::unchanged);
  CHECK(verdict(100'000, 101'000) == Verdict::regressed);
}

TEST_CASE("a peak of which one run differs is not exact, and has the threshold of all others") {
  const std::int64_t before = 100 * kMiB;
  for (const bool baseline_differs : {true, false}) {
    const auto change = [&](std::int64_t after) {
      return baseline_differs ? peak(differing(before), Runs(3, after))
                              : peak(Runs(3, before), differing(after));
    };
    CHECK_FALSE(change(103 * kMiB).is_exact);
    CHECK(change(103 * kMiB).verdict == Verdict::unchanged);
    CHECK(change(103 * kMiB).reason.ends_with(", not exact: runs of one build differ"));
    CHECK(change(109 * kMiB).verdict == Verdict::regressed);
    CHECK(change(109 * kMiB).low < change(109 * kMiB).high);
  }
}

TEST_CASE("what the kernel or the driver counts is never exact, however alike its runs are") {
  for (const auto metric : {Metric::cpu_peak_resident, Metric::device_peak_total}) {
    CHECK_FALSE(is_counted(metric));
    const auto decision = peak(Runs(3, 1000 * kMiB), Runs(3, 1030 * kMiB), metric);
    CHECK_FALSE(decision.is_exact);
    CHECK(decision.verdict == Verdict::unchanged);
  }
  CHECK(is_counted(Metric::cpu_peak));
  CHECK(is_counted(Metric::device_peak));
}

TEST_CASE("one run a side shows nothing exact") {
  CHECK_FALSE(peak({100 * kMiB}, {103 * kMiB}).is_exact);
  CHECK(peak({100 * kMiB, 100 * kMiB}, {103 * kMiB, 103 * kMiB}).suspect);
}

TEST_CASE("runs that raised a suspicion must agree with the fresh ones for a peak to be exact") {
  const Runs low(2, 100 * kMiB);
  const Runs high(2, 103 * kMiB);
  const Runs fresh_low(4, 100 * kMiB);
  const Runs fresh_high(4, 103 * kMiB);
  const auto decision = confirmed(low, high, fresh_low, fresh_high);
  CHECK(decision.is_exact);
  CHECK(decision.verdict == Verdict::regressed);
  CHECK(decision.low == decision.ratio);
  CHECK(decision.high == decision.ratio);

  const auto moved = confirmed(low, {102 * kMiB + 1, 103 * kMiB}, fresh_low, fresh_high);
  CHECK_FALSE(moved.is_exact);
  CHECK(moved.verdict == Verdict::unchanged);
  CHECK(moved.low < moved.high);
  const auto swapped = confirmed(high, low, fresh_low, fresh_high);
  CHECK_FALSE(swapped.is_exact);
  CHECK(swapped.verdict == Verdict::unchanged);

  const auto gone = confirmed(low, high, fresh_low, fresh_low);
  CHECK(gone.verdict == Verdict::unchanged);
  const auto resident = confirmed({90 * kMiB}, {200 * kMiB}, fresh_low, Runs(4, 120 * kMiB),
                                  Metric::cpu_peak_resident);
  CHECK(resident.verdict == Verdict::regressed);
  CHECK(resident.low == 1.2);
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
