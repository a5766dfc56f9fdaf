#include "torchwatch/detect/output_verdict.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace torchwatch;
using detect::judge_outputs;
using detect::output_difference;
using Values = std::vector<std::int64_t>;

namespace {

constexpr std::int64_t kPerCent = 10'000'000;  // of 1e-9

std::vector<OutputFigures> outputs(std::vector<double> figures, double scale = 2) {
  return {{.name = "output float32 [4]", .scale = scale, .figures = std::move(figures)}};
}

Verdict verdict(const Values& baseline, const Values& candidate,
                Precision precision = Precision::fp32) {
  return judge_outputs(baseline, candidate, precision, {}).verdict;
}

}  // namespace

TEST_CASE("results are as far apart as their worst figures, by the size of the output") {
  CHECK(output_difference(outputs({1, -3}), outputs({1, -3})) == 0);
  CHECK(output_difference(outputs({1, -3}), outputs({1.02, -3.04})) == 2 * kPerCent);
  CHECK(output_difference(outputs({1, -3}, 1), outputs({1.02, -3}, 2)) == kPerCent);
  auto two = outputs({1, 1});
  two.push_back({.name = "loss", .scale = 0.5, .figures = {0.5}});
  auto other = two;
  other[1].figures[0] = 0.55;
  CHECK(output_difference(two, other) == 10 * kPerCent);
  CHECK(furthest_output(two, other) == "loss");
  CHECK(furthest_output(two, two).empty());
  CHECK(furthest_output(two, outputs({1})).empty());
}

TEST_CASE("what cannot be compared has nothing in common") {
  const auto some = outputs({1, 2});
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  CHECK(output_difference(some, {}) == kOutputDifferenceMax);
  CHECK(output_difference(some, outputs({1, 2, 3})) == kOutputDifferenceMax);
  CHECK(output_difference(some, outputs({1, kNan})) == kOutputDifferenceMax);
  CHECK(output_difference(some, outputs({1, kInfinite})) == kOutputDifferenceMax);
  CHECK(output_difference(some, outputs({1, 2e9})) == kOutputDifferenceMax);
  CHECK(output_difference(outputs({kNan, 2}), outputs({kNan, 2})) == 0);
  CHECK(output_difference(outputs({0}, 0), outputs({0}, 0)) == 0);
  CHECK(output_difference(outputs({0}, 0), outputs({1e-9}, 0)) == kOutputDifferenceMax);
  const auto masked = outputs({kNan, kNan, -5, kInfinite}, kNan);
  CHECK(output_difference(masked, masked) == 0);
  CHECK(output_difference(masked, outputs({kNan, kNan, -5.1, kInfinite}, kNan)) ==
        Approx(0.1 / 5.1 * 1e9).margin(1));
  auto renamed = some;
  renamed[0].name = "output float64 [4]";
  CHECK(output_difference(some, renamed) == kOutputDifferenceMax);
}

TEST_CASE("a difference is the same both ways, and in range") {
  REQUIRE(rc::check([] {
    const auto one =
        outputs(*rc::gen::container<std::vector<double>>(3, rc::gen::arbitrary<double>()));
    const auto other =
        outputs(*rc::gen::container<std::vector<double>>(3, rc::gen::arbitrary<double>()));
    const auto apart = output_difference(one, other);
    RC_ASSERT(apart == output_difference(other, one));
    RC_ASSERT(0 <= apart && apart <= kOutputDifferenceMax);
    RC_ASSERT(output_difference(one, one) == 0);
  }));
}

TEST_CASE("results changed where every run of the candidate is apart by more than is tolerated") {
  const Values equal(4, 0);
  CHECK(verdict(equal, Values(4, 900'000)) == Verdict::unchanged);  // 0.09 %
  CHECK(verdict(equal, Values(4, 1'100'000)) == Verdict::regressed);
  CHECK(verdict(equal, {1'100'000, 1'100'000, 1'100'000, 0}) == Verdict::inconclusive);
  CHECK(judge_outputs(Values(2, 0), Values(2, 1'100'000), Precision::fp32, {}).suspect);
  CHECK(verdict(equal, {1'100'000}) == Verdict::inconclusive);
}

TEST_CASE("the scatter of a build's own runs is tolerated, and so are last places of short types") {
  CHECK(verdict({0, 500'000, 0, 400'000}, Values(4, 4'500'000)) == Verdict::unchanged);
  CHECK(verdict({0, 500'000, 0, 400'000}, Values(4, 5'500'000)) == Verdict::regressed);
  CHECK(verdict({0, 20 * kPerCent}, Values(4, kOutputDifferenceMax)) == Verdict::inconclusive);
  CHECK(verdict(Values(4, 0), Values(4, kPerCent / 2), Precision::fp16) == Verdict::unchanged);
  CHECK(verdict(Values(4, 0), Values(4, kPerCent), Precision::fp16) == Verdict::regressed);
  CHECK(verdict(Values(4, 0), Values(4, 6 * kPerCent), Precision::bf16) == Verdict::unchanged);
  CHECK(verdict(Values(4, 0), Values(4, 7 * kPerCent), Precision::amp) == Verdict::regressed);
}

TEST_CASE("the reason says how far apart results are, and what is tolerated") {
  const auto decision = judge_outputs(Values(4, 0), Values(4, 40 * kPerCent), Precision::fp32, {});
  CHECK(decision.reason == "outputs differ by 40 %, 4 + 4 runs, 0.10 % is tolerated");
  CHECK(decision.ratio == 0);
}
