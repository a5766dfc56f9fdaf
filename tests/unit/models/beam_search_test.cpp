#include "speech/parts/beam_search.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace torchwatch::models;

namespace {

constexpr std::int64_t kTokens = 8;
constexpr std::int64_t kBegin = 0;
constexpr std::int64_t kEnd = 1;

/// Row i: the log-probabilities of what follows token i.
torch::Tensor random_chain(std::uint64_t seed) {
  torch::manual_seed(seed);
  return torch::log_softmax(2 * torch::randn({kTokens, kTokens}), 1);
}

Hypothesis search(const torch::Tensor& chain, std::int64_t width, std::int64_t longest) {
  const auto next = [&](const torch::Tensor& tokens) {
    return chain.index_select(0, tokens.select(1, -1));
  };
  const BeamSearch::Settings settings{
      .begin = kBegin, .end = kEnd, .width = width, .longest = longest};
  return BeamSearch(next, settings, torch::kFloat32).run();
}

std::vector<std::int64_t> listed(const torch::Tensor& tokens) {
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0; i < tokens.size(1); ++i)
    list.push_back(tokens[0][i].item<std::int64_t>());
  return list;
}

double at(const torch::Tensor& chain, std::int64_t from, std::int64_t to) {
  return chain[from][to].item<double>();
}

/// The best of all sentences of at most two tokens after the first.
double best_of_all(const torch::Tensor& chain) {
  double best = at(chain, kBegin, kEnd);
  for (std::int64_t first = 0; first < kTokens; ++first) {
    if (first == kEnd) continue;
    for (std::int64_t second = 0; second < kTokens; ++second) {
      best = std::max(best, at(chain, kBegin, first) + at(chain, first, second));
    }
  }
  return best;
}

}  // namespace

TEST_CASE("a beam as wide as the vocabulary finds the best of all short sentences") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto chain = random_chain(seed);
    const auto found = search(chain, kTokens, 2);
    CHECK(found.score.item<double>() == Approx(best_of_all(chain)));
    const auto tokens = listed(found.tokens);
    CHECK(tokens.front() == kBegin);
    CHECK(tokens.back() == kEnd);
  }
}

TEST_CASE("a beam of one takes the likeliest token each time") {
  const auto chain = random_chain(3);
  std::vector<std::int64_t> greedy{kBegin};
  for (int round = 0; round < 5 && greedy.back() != kEnd; ++round) {
    greedy.push_back(chain[greedy.back()].argmax().item<std::int64_t>());
  }
  if (greedy.back() != kEnd) greedy.push_back(kEnd);
  CHECK(listed(search(chain, 1, 5).tokens) == greedy);
}

TEST_CASE("a search ends when all that it follows has ended") {
  auto chain = torch::full({kTokens, kTokens}, -std::numeric_limits<float>::infinity());
  chain.select(1, kEnd).fill_(0);
  CHECK(listed(search(chain, 1, 100).tokens) == std::vector<std::int64_t>{kBegin, kEnd});
}
