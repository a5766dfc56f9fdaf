#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/graph.hpp"

using torchwatch::models::are_close;
using torchwatch::models::kTolerance;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNoNumber = std::nanf("");

}  // namespace

TEST_CASE("a compiled graph may differ by a share of its largest value") {
  const auto expected = torch::tensor({1.0F, 100.0F});
  const auto at = [](double apart) {
    return torch::tensor({1.0F + static_cast<float>(apart), 100.0F});
  };
  CHECK(are_close(expected, at(0.9 * kTolerance * 100)));
  CHECK_FALSE(are_close(expected, at(1.1 * kTolerance * 100)));
  CHECK_FALSE(are_close(expected, torch::tensor({1.0F})));
}

TEST_CASE("what is infinite or not a number in eager mode is so in a graph") {
  const auto masked = torch::tensor({1.0F, -kInfinity, kNoNumber});
  CHECK(are_close(masked, masked.clone()));
  CHECK(are_close(masked, torch::tensor({1.0F + 5e-4F, -kInfinity, kNoNumber})));
  CHECK_FALSE(are_close(masked, torch::tensor({2.0F, -kInfinity, kNoNumber})));
  CHECK_FALSE(are_close(masked, torch::tensor({1.0F, kInfinity, kNoNumber})));
  CHECK_FALSE(are_close(masked, torch::tensor({1.0F, -kInfinity, 1.0F})));
  CHECK_FALSE(are_close(masked, torch::tensor({kNoNumber, -kInfinity, kNoNumber})));
}
