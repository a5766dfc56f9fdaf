#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// A possible transcript of the part heard so far.
struct Hypothesis {
  torch::Tensor score;   ///< the sum of its tokens' log-probabilities
  torch::Tensor tokens;  ///< 1 x length, int64
};

/// Looks for the likeliest tokens by following the likeliest beginnings. Each of them is continued
/// by itself in each round, and scores are compared one by one, as in speech_transformer's
/// original; on a GPU both wait for it.
class BeamSearch {
 public:
  /// The log-probabilities, 1 x vocabulary, of what follows `tokens` (1 x length).
  using Next = std::function<torch::Tensor(const torch::Tensor& tokens)>;

  struct Settings {
    std::int64_t begin = 0;    ///< the token that begins each hypothesis
    std::int64_t end = 0;      ///< the token that ends one
    std::int64_t width = 1;    ///< hypotheses followed
    std::int64_t longest = 1;  ///< tokens after the first; then all are ended
  };

  /// Scores get `options`; tokens lie on the same device.
  BeamSearch(Next next, const Settings& settings, const torch::TensorOptions& options)
      : next_(std::move(next)), settings_(settings) {
    const auto begin = torch::full({1, 1}, settings.begin, options.dtype(torch::kInt64));
    alive_.push_back({torch::zeros({}, options), begin});
  }

  /// The best; undefined tensors where none has ended.
  Hypothesis run() {
    for (std::int64_t round = 0; round < settings_.longest && !alive_.empty(); ++round) {
      extend();
      if (round + 1 == settings_.longest) end_all();
      retire();
    }
    keep_best(ended_);
    return ended_.empty() ? Hypothesis{} : ended_.front();
  }

 private:
  void keep_best(std::vector<Hypothesis>& hypotheses) const {
    std::ranges::stable_sort(hypotheses, [](const Hypothesis& one, const Hypothesis& other) {
      return (one.score > other.score).item<bool>();
    });
    const auto width = static_cast<std::size_t>(settings_.width);
    if (hypotheses.size() > width) hypotheses.resize(width);
  }

  static torch::Tensor longer(const torch::Tensor& tokens, std::int64_t token) {
    return torch::cat({tokens, torch::full({1, 1}, token, tokens.options())}, 1);
  }

  void extend() {
    std::vector<Hypothesis> best;
    for (const auto& hypothesis : alive_) {
      const auto [scores, tokens] = torch::topk(next_(hypothesis.tokens), settings_.width, 1);
      for (std::int64_t j = 0; j < settings_.width; ++j) {
        best.push_back({hypothesis.score + scores[0][j],
                        longer(hypothesis.tokens, tokens[0][j].item<std::int64_t>())});
      }
      keep_best(best);
    }
    alive_ = std::move(best);
  }

  void end_all() {
    for (auto& hypothesis : alive_) hypothesis.tokens = longer(hypothesis.tokens, settings_.end);
  }

  void retire() {
    std::vector<Hypothesis> alive;
    for (auto& hypothesis : alive_) {
      const bool has_ended = hypothesis.tokens[0][-1].item<std::int64_t>() == settings_.end;
      (has_ended ? ended_ : alive).push_back(std::move(hypothesis));
    }
    alive_ = std::move(alive);
  }

  Next next_;
  Settings settings_;
  std::vector<Hypothesis> alive_;
  std::vector<Hypothesis> ended_;
};

}  // namespace torchwatch::models
