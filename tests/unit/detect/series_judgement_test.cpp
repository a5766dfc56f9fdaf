#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "recorded_noise.hpp"
#include "simulated_series.hpp"

using namespace torchwatch;
using namespace torchwatch::detect;

namespace {

/// Draws runs like those of a shared machine: normal with a tail of slow ones.
class NoisyRuns {
 public:
  NoisyRuns(std::uint64_t seed, double sd) : random_(seed), noise_(0, sd) {}
  double operator()() {
    const double spike = chance_(random_) < 0.05 ? slow_(random_) : 0;
    return 1e7 * std::exp(noise_(random_) + spike);
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> noise_;
  std::uniform_real_distribution<double> chance_{0, 1};
  std::exponential_distribution<double> slow_{8};
};

struct Tally {
  int comparisons = 0;
  int regressed = 0;
  int improved = 0;
  int covered = 0;
  int decided = 0;
  double runs = 0;
};

void add(const SeriesOutcome& outcome, double slowdown, Tally& tally) {
  ++tally.comparisons;
  tally.regressed += outcome.verdict == Verdict::regressed ? 1 : 0;
  tally.improved += outcome.verdict == Verdict::improved ? 1 : 0;
  tally.runs += outcome.runs();
  if (outcome.confirm_pairs == 0) return;
  ++tally.decided;
  const bool covers = outcome.estimate.low <= slowdown && slowdown <= outcome.estimate.high;
  tally.covered += covers ? 1 : 0;
}

Tally simulated(double slowdown, double sd, int comparisons) {
  Tally tally;
  for (int comparison = 0; comparison < comparisons; ++comparison) {
    NoisyRuns runs(static_cast<std::uint64_t>(comparison) + 1, sd);
    add(judge_simulated_series(std::ref(runs), std::ref(runs), slowdown, Settings{}), slowdown,
        tally);
  }
  return tally;
}

/// The share of changes of the threshold that are called unchanged, with pairs that scatter by that
/// part of it.
double called_unchanged(double threshold, double part) {
  constexpr int kComparisons = 600;
  Settings settings;
  settings.gate *= threshold / settings.threshold;
  settings.threshold = threshold;
  int unchanged = 0;
  for (int i = 0; i < kComparisons; ++i) {
    std::mt19937_64 random(static_cast<std::uint64_t>(i) + 1);
    std::normal_distribution<double> pair(std::log1p(threshold), part * threshold);
    const auto more = [&](std::vector<double>& log_ratios, int pairs) {
      while (static_cast<int>(log_ratios.size()) < pairs) log_ratios.push_back(pair(random));
    };
    if (judge_series(more, more, settings).verdict == Verdict::unchanged) ++unchanged;
  }
  return static_cast<double>(unchanged) / kComparisons;
}

/// Judges every comparison of a recording once, with its runs in their order.
Tally recorded(const test::Recording& recording, double slowdown) {
  Tally tally;
  for (const auto& series : recording) {
    const auto values = test::process_medians(series);
    std::size_t start = 0;
    for (const auto& comparison : series.comparisons) {
      std::size_t at = start;
      const auto next = [&] { return values[at++ % values.size()]; };
      add(judge_simulated_series(next, next, slowdown, Settings{}), slowdown, tally);
      start += comparison.size();
    }
  }
  return tally;
}

}  // namespace

TEST_CASE("unchanged code with simulated noise is never a regression and costs few runs") {
  for (const double sd : {0.01, 0.02, 0.05}) {
    const auto tally = simulated(1.0, sd, 500);
    CAPTURE(sd);
    CHECK(tally.regressed == 0);
    CHECK(tally.improved == 0);
    CHECK(tally.runs / tally.comparisons < (sd < 0.05 ? 14 : 40));
  }
}

TEST_CASE("a simulated slowdown of 15 % is found at once, and so is an equal speed-up") {
  const auto slower = simulated(1.15, 0.02, 300);
  CHECK(slower.regressed >= 298);
  CHECK(slower.runs / slower.comparisons < 50);
  CHECK(simulated(1 / 1.15, 0.02, 300).improved >= 298);
}

TEST_CASE("a slowdown of half the threshold stays silent") {
  CHECK(simulated(1.035, 0.02, 500).regressed <= 3);
}

TEST_CASE("the stated interval covers the true effect after screening and looking") {
  const auto tally = simulated(1.08, 0.03, 400);
  CAPTURE(tally.covered, tally.decided);
  CHECK(tally.decided > 300);
  CHECK(tally.covered >= tally.decided * 99 / 100);
}

TEST_CASE("recorded noise of three workloads raises no alarm and hides no slowdown of 10 %") {
  const auto recording = test::read_recording(test::excerpt());
  REQUIRE(recording);
  REQUIRE(recording->size() == 3);
  CHECK(recorded(*recording, 1.0).regressed == 0);
  CHECK(recorded(*recording, 1.0).improved == 0);
  const auto slower = recorded(*recording, 1.10);
  CHECK(slower.regressed >= slower.comparisons * 95 / 100);
}

TEST_CASE("the whole recording raises no alarm and hides no slowdown of 10 %") {
  const auto recording = test::read_recording(test::full_recording());
  REQUIRE(recording);
  CHECK(recorded(*recording, 1.0).regressed == 0);
  const auto slower = recorded(*recording, 1.10);
  CHECK(slower.regressed >= slower.comparisons * 98 / 100);
}

TEST_CASE("the budget of false incidents becomes a chance per series and nightly") {
  CHECK(alpha_of_budget(1, 840) == Approx(1.0 / (365 * 840)));
  CHECK(alpha_of_budget(2, 840) == Approx(2 * alpha_of_budget(1, 840)));
}

TEST_CASE("a change of the threshold is seldom called unchanged, and at worst about once in five") {
  for (const double threshold : {0.03, 0.07, 0.5}) {
    CHECK(called_unchanged(threshold, 0.2) < 0.02);
    CHECK(called_unchanged(threshold, 0.42) < 0.09);
    CHECK(called_unchanged(threshold, 1.1) < 0.23);
  }
}
