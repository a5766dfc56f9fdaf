#include "torchwatch/operators/operator_changes.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace torchwatch;
using namespace torchwatch::operators;
using Catch::Detail::Approx;

namespace {

constexpr double kIterationNs = 1'000'000;

Figures figures(std::int64_t addmm_ns, std::int64_t relu_ns) {
  return {{"aten::addmm", {.calls = 4, .self_ns = addmm_ns}},
          {"aten::relu", {.calls = 2, .self_ns = relu_ns}}};
}

/// Pairs whose second build takes more in addmm; everything scatters by a per mille or two.
std::vector<Pair> pairs(std::int64_t more_ns, int count = 8) {
  std::vector<Pair> all;
  for (int i = 0; i < count; ++i) {
    const std::int64_t noise = (i % 3 - 1) * 1'000;
    all.push_back({.before = figures(600'000 + noise, 200'000),
                   .after = figures(600'000 + more_ns - noise, 200'000 + noise)});
  }
  return all;
}

}  // namespace

TEST_CASE("the operator that takes more comes first, with an interval that holds its difference") {
  const auto changes = changes_in(pairs(60'000));
  REQUIRE(changes.size() == 2);
  const auto& addmm = changes[0];
  CHECK(addmm.name == "aten::addmm");
  CHECK(addmm.before.calls == 4);
  CHECK(addmm.difference_ns == Approx(60'000).margin(1'000));
  CHECK(addmm.low_ns < 60'000);
  CHECK(addmm.high_ns > 60'000);
  CHECK(takes_more(addmm, kIterationNs));
  CHECK_FALSE(takes_less(addmm, kIterationNs));
  CHECK_FALSE(takes_more(changes[1], kIterationNs));
  CHECK_FALSE(takes_less(changes[1], kIterationNs));
}

TEST_CASE("an operator that takes less is first where it differs most") {
  const auto changes = changes_in(pairs(-60'000));
  CHECK(changes[0].name == "aten::addmm");
  CHECK(takes_less(changes[0], kIterationNs));
  CHECK_FALSE(takes_more(changes[0], kIterationNs));
}

TEST_CASE("a difference below a hundredth of an iteration does not count, however certain") {
  const auto changes = changes_in(pairs(8'000));
  CHECK(changes[0].low_ns > 0);
  CHECK_FALSE(takes_more(changes[0], kIterationNs));
}

TEST_CASE("a difference that scatters as much as it is large does not count") {
  auto all = pairs(0);
  for (std::size_t i = 0; i < all.size(); i += 4) all[i].after["aten::addmm"].self_ns += 300'000;
  const auto changes = changes_in(all);
  CHECK(changes[0].difference_ns > 50'000);
  CHECK_FALSE(takes_more(changes[0], kIterationNs));
}

TEST_CASE("a disturbance of both runs of a pair widens no interval") {
  const auto width = [](const std::vector<Pair>& of) {
    const auto addmm = changes_in(of)[0];
    return addmm.high_ns - addmm.low_ns;
  };
  auto disturbed = pairs(60'000);
  for (auto* side : {&disturbed[2].before, &disturbed[2].after}) {
    for (auto& [name, figures] : *side) figures.self_ns *= 3;
  }
  CHECK(width(disturbed) < 1.5 * width(pairs(60'000)));
  CHECK(changes_in(disturbed)[0].difference_ns == Approx(60'000).margin(2'000));
}

TEST_CASE("an operator that one build alone calls takes nothing of the other's iterations") {
  auto all = pairs(0);
  for (auto& pair : all) {
    pair.after["aten::copy_"] = {.calls = 3, .self_ns = 50'000, .allocated_bytes = 4096};
    pair.before.erase("aten::relu");
  }
  const auto changes = changes_in(all);
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].name == "aten::relu");
  CHECK(changes[0].before.self_ns == 0);
  CHECK(changes[1].name == "aten::copy_");
  CHECK(changes[1].before.calls == 0);
  CHECK(changes[1].after.calls == 3);
  CHECK(changes[1].after.allocated_bytes == 4096);
  CHECK(takes_more(changes[1], kIterationNs));
}

TEST_CASE("fewer than three pairs have no interval, and no difference counts") {
  const auto changes = changes_in(pairs(500'000, 2));
  CHECK(changes[0].difference_ns == Approx(500'000).margin(2'000));
  CHECK(std::isinf(changes[0].low_ns));
  CHECK(std::isinf(changes[0].high_ns));
  CHECK_FALSE(takes_more(changes[0], kIterationNs));
  CHECK(changes_in({}).empty());
}

TEST_CASE("intervals are wider among many operators, as they hold together") {
  auto many = pairs(60'000);
  for (auto& pair : many) {
    for (int i = 0; i < 60; ++i) {
      const auto name = "aten::other_" + std::to_string(i);
      pair.before[name] = pair.after[name] = {.calls = 1, .self_ns = 10};
    }
  }
  const auto width = [](const Change& change) { return change.high_ns - change.low_ns; };
  const auto few = changes_in(pairs(60'000));
  const auto all = changes_in(many);
  CHECK(all[0].name == few[0].name);
  CHECK(width(all[0]) > 1.5 * width(few[0]));
}
