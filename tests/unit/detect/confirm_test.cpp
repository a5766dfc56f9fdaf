#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "torchwatch/detect/time_verdict.hpp"

using namespace torchwatch;
using namespace torchwatch::detect;

namespace {

/// Pairs spread evenly about a centre, in an order that is not sorted.
std::vector<double> pairs_about(double centre, double half_width, int count) {
  std::vector<double> log_ratios;
  for (int i = 0; i < count; ++i) {
    const double place = (i * 7 % count + 0.5) / count * 2 - 1;
    log_ratios.push_back(centre + half_width * place);
  }
  return log_ratios;
}

}  // namespace

TEST_CASE("there is no verdict before the least number of pairs") {
  for (int pairs = 0; pairs < 12; ++pairs) {
    const auto decision = confirm(pairs_about(0.5, 0.01, pairs), Settings{});
    CHECK(decision.measure_more);
    CHECK(decision.pairs_next == 12);
  }
}

TEST_CASE("a clear regression is confirmed by twelve pairs with its interval") {
  const auto decision = confirm(pairs_about(std::log(1.15), 0.05, 12), Settings{});
  CHECK_FALSE(decision.measure_more);
  CHECK(decision.verdict == Verdict::regressed);
  CHECK(decision.estimate.ratio == Approx(1.15).margin(0.005));
  CHECK(decision.estimate.low < 1.15);
  CHECK(decision.estimate.high > 1.15);
  CHECK(decision.estimate.confidence == 0.99);
  CHECK(decision.reason.starts_with("+15."));
  CHECK(decision.reason.ends_with("] at 99 %, 12 pairs"));
}

TEST_CASE("a confidence beyond the signed-rank test of twelve pairs has an interval all the same") {
  Settings settings;
  settings.confidence = 0.9999;
  const auto decision = confirm(pairs_about(std::log(1.15), 0.05, 12), settings);
  CHECK(decision.verdict == Verdict::regressed);
  CHECK(decision.estimate.low > 1.0);
  CHECK(decision.estimate.low < 1.1);
  CHECK(decision.estimate.high > 1.2);
  CHECK(decision.estimate.high < 1.4);
  CHECK(decision.reason.find("too few") == std::string::npos);
}

TEST_CASE("the same change for the better is an improvement") {
  const auto decision = confirm(pairs_about(-std::log(1.15), 0.05, 12), Settings{});
  CHECK(decision.verdict == Verdict::improved);
  CHECK(decision.reason.starts_with("-13."));
}

TEST_CASE("a suspicion that does not hold on fresh pairs is dropped at the first look") {
  const auto decision = confirm(pairs_about(0.002, 0.04, 12), Settings{});
  CHECK(decision.verdict == Verdict::unchanged);
  CHECK(decision.reason.find("below the gate of +6.0 %") != std::string::npos);
}

TEST_CASE("a change of half the threshold is not confirmed however precise it is") {
  const auto decision = confirm(pairs_about(std::log(1.035), 0.001, 60), Settings{});
  CHECK(decision.verdict == Verdict::unchanged);
}

TEST_CASE("pairs beyond the look that decided change nothing") {
  auto log_ratios = pairs_about(std::log(1.15), 0.05, 12);
  const auto decision = confirm(log_ratios, Settings{});
  for (int i = 0; i < 7; ++i) log_ratios.push_back(-3);
  const auto later = confirm(log_ratios, Settings{});
  CHECK(later.verdict == decision.verdict);
  CHECK(later.estimate.ratio == decision.estimate.ratio);
  CHECK(later.estimate.pairs == 12);
}

TEST_CASE("confirmation between two looks waits for the next one") {
  const auto undecided = pairs_about(std::log(1.06), 0.12, 12);
  auto decision = confirm(undecided, Settings{});
  REQUIRE(decision.measure_more);
  CHECK(decision.pairs_next == 24);
  auto more = undecided;
  more.push_back(0.06);
  CHECK(confirm(more, Settings{}).measure_more);
  CHECK(confirm(more, Settings{}).pairs_next == 24);
}

TEST_CASE("noise that hides the change ends as inconclusive with the change it would have found") {
  const auto decision = confirm(pairs_about(std::log(1.06), 0.6, 60), Settings{});
  CHECK_FALSE(decision.measure_more);
  CHECK(decision.verdict == Verdict::inconclusive);
  CHECK(decision.detectable > 0.07);
  CHECK(decision.reason.find("too noisy to tell; a change from +") != std::string::npos);
}

TEST_CASE("pairs that agree suspiciously well get the least assumed spread") {
  // Twelve equal pairs: the t statistic would be infinite without the floor.
  const std::vector<double> equal(12, std::log(1.08));
  CHECK(confirm(equal, Settings{}).verdict == Verdict::regressed);
  Settings settings;
  settings.noise_floor = 0.2;
  CHECK(confirm(equal, settings).measure_more);
}

TEST_CASE("confirmation always ends at the most pairs, and is symmetrical") {
  std::mt19937_64 random(20260101);
  std::uniform_real_distribution<double> noise(-0.3, 0.3);
  for (int trial = 0; trial < 200; ++trial) {
    const double centre = 0.002 * (trial % 100);
    std::vector<double> log_ratios;
    for (int i = 0; i < 60; ++i) log_ratios.push_back(centre + noise(random));
    const auto decision = confirm(log_ratios, Settings{});
    CHECK_FALSE(decision.measure_more);
    for (double& value : log_ratios) value = -value;
    const auto mirrored = confirm(log_ratios, Settings{});
    const auto swapped = decision.verdict == Verdict::regressed  ? Verdict::improved
                         : decision.verdict == Verdict::improved ? Verdict::regressed
                                                                 : decision.verdict;
    CHECK(mirrored.verdict == swapped);
  }
}

TEST_CASE("odd and small settings still end") {
  Settings settings;
  settings.confirm_pairs_min = 5;
  settings.confirm_pairs_max = 3;
  const auto decision = confirm(pairs_about(0.2, 0.01, 6), settings);
  CHECK_FALSE(decision.measure_more);
  CHECK(decision.verdict == Verdict::inconclusive);  // six pairs cannot carry the evidence
}

TEST_CASE("a rest is bounded until less than half of the change can be left") {
  const double half = half_of_change(1.07);
  CHECK(half * half == Approx(1.07));
  Estimate known;
  known.high = 1.03;
  CHECK_FALSE(bound_rest({}, known, half, Settings{}).measure_more);
  known.high = 1.05;
  CHECK(bound_rest(pairs_about(0, 0.02, 8), known, half, Settings{}).measure_more);
  const auto bounded = bound_rest(pairs_about(0, 0.02, 12), known, half, Settings{});
  CHECK_FALSE(bounded.measure_more);
  CHECK(bounded.estimate.high < half);
  CHECK(bounded.estimate.pairs == 12);
  CHECK(bounded.reason.ends_with("at 99 %, 12 pairs"));
}

TEST_CASE("a rest that no later look is likely to exclude takes no more pairs") {
  const double half = half_of_change(1.07);
  Estimate known;
  known.high = 1.08;
  const auto rest = [&](double centre, double half_width, int pairs) {
    return bound_rest(pairs_about(centre, half_width, pairs), known, half, Settings{});
  };
  CHECK(rest(0.02, 0.03, 12).measure_more);
  CHECK_FALSE(rest(0.05, 0.02, 12).measure_more);
  CHECK_FALSE(rest(0.05, 0.02, 30).measure_more);
  CHECK(rest(0.05, 0.02, 30).estimate.pairs == 12);
  CHECK_FALSE(rest(0.033, 0.03, 60).measure_more);
  // What was decided by 24 pairs is not taken back to twelve.
  known.pairs = 24;
  CHECK(rest(0.05, 0.02, 30).estimate.pairs == 24);
}

TEST_CASE("one recheck shows that a change is gone, and hardly ever where half of it is left") {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.03);
  const double half = half_of_change(1.07);
  Settings settings;
  settings.screen_pairs_min = 8;
  const auto shown = [&](double left, int comparisons) {
    int gone = 0;
    for (int i = 0; i < comparisons; ++i) {
      std::vector<double> pairs;
      const auto measure = [&](int to) {
        while (static_cast<int>(pairs.size()) < to) pairs.push_back(left + noise(random));
      };
      auto screened = screen(pairs, settings);
      while (screened.step == ScreenStep::measure_more) {
        measure(screened.pairs_next);
        screened = screen(pairs, settings);
      }
      if (screened.step != ScreenStep::unchanged) continue;
      auto rest = bound_rest(pairs, screened.estimate, half, settings);
      while (rest.measure_more) {
        measure(static_cast<int>(pairs.size()) + 2);
        rest = bound_rest(pairs, screened.estimate, half, settings);
      }
      if (rest.estimate.high < half) ++gone;
    }
    return static_cast<double>(gone) / comparisons;
  };
  CHECK(shown(0, 500) > 0.95);
  CHECK(shown(std::log(half), 1000) < 0.02);
}
