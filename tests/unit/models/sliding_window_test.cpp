#include "natural_language/parts/sliding_window.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::models;

namespace {

constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kLength = 24;
constexpr std::int64_t kHeads = 3;
constexpr std::int64_t kWidth = 5;
constexpr std::int64_t kReach = 4;

torch::Tensor random_features(std::uint64_t seed) {
  torch::manual_seed(seed);
  return torch::randn({kBatch, kLength, kHeads, kWidth});
}

/// Returns batch x length x heads of the token `offset` places later; `outside` beyond the text.
torch::Tensor moved(const torch::Tensor& x, std::int64_t offset, double outside) {
  auto result = torch::full_like(x, outside);
  const auto count = kLength - std::abs(offset);
  const auto to = std::max<std::int64_t>(0, -offset);
  result.narrow(1, to, count).copy_(x.narrow(1, to + offset, count));
  return result;
}

}  // namespace

TEST_CASE("sliding scores are the products with the tokens around, and never outside the text") {
  const auto query = random_features(1);
  const auto key = random_features(2);
  const auto scores = sliding_window::relative_scores(query, key, kReach);
  REQUIRE(scores.sizes().vec() ==
          std::vector<std::int64_t>{kBatch, kLength, kHeads, 2 * kReach + 1});
  for (std::int64_t offset = -kReach; offset <= kReach; ++offset) {
    const auto plain = (query * moved(key, offset, 0)).sum(-1);
    const auto is_inside = moved(torch::ones_like(plain), offset, 0) == 1;
    const auto ours = scores.select(3, offset + kReach);
    CHECK(
        torch::allclose(ours.masked_select(is_inside), plain.masked_select(is_inside), 1e-5, 1e-5));
    CHECK(ours.masked_select(is_inside.logical_not()).isneginf().all().item<bool>());
  }
}

TEST_CASE("sliding weights add up the values around") {
  const auto value = random_features(3);
  const auto scores =
      sliding_window::relative_scores(random_features(4), random_features(5), kReach);
  const auto weights = torch::softmax(scores, -1);
  auto plain = torch::zeros_like(value);
  for (std::int64_t offset = -kReach; offset <= kReach; ++offset) {
    plain += weights.narrow(3, offset + kReach, 1) * moved(value, offset, 0);
  }
  CHECK(
      torch::allclose(sliding_window::weighted_values(weights, value, kReach), plain, 1e-5, 1e-5));
}
