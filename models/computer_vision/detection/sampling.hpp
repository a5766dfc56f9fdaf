#pragma once

#include <algorithm>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

/// The ground truth that each candidate overlaps most, and what follows from how much.
struct Matches {
  torch::Tensor truth;   ///< index of it
  torch::Tensor labels;  ///< int64: 1 found, 0 background, -1 neither
};

struct MatchRule {
  double background_below = 0.5;
  double found_from = 0.5;
  /// Each ground truth also counts as found by its best candidates, however bad they are.
  bool keep_best = false;
};

/// `quality` has a row for each ground truth and a column for each candidate.
inline Matches match(const torch::Tensor& quality, const MatchRule& rule) {
  const auto [best, truth] = quality.max(0);
  auto labels = torch::full_like(truth, -1);
  labels.masked_fill_(best < rule.background_below, 0);
  labels.masked_fill_(best >= rule.found_from, 1);
  if (rule.keep_best) {
    const auto best_of_truth = std::get<0>(quality.max(1, /*keepdim=*/true));
    labels.masked_fill_((quality == best_of_truth).any(0), 1);
  }
  return {.truth = truth, .labels = labels};
}

/// Indices of drawn candidates.
struct Sample {
  torch::Tensor found;
  torch::Tensor background;

  torch::Tensor all() const { return torch::cat({found, background}); }
};

/// Draws up to `count` candidates, up to `found_part` of them found ones. The original draws on the
/// device, too, from its default generator.
inline Sample draw_sample(const torch::Tensor& labels, std::int64_t count, double found_part) {
  const auto draw = [](const torch::Tensor& from, std::int64_t most) {
    const auto order = torch::randperm(from.size(0), from.options());
    return from.index_select(0, order.slice(0, 0, std::min(from.size(0), most)));
  };
  const auto indices_of = [&labels](int label) { return (labels == label).nonzero().squeeze(1); };
  const auto most_found = static_cast<std::int64_t>(static_cast<double>(count) * found_part);
  const auto found = draw(indices_of(1), most_found);
  return {.found = found, .background = draw(indices_of(0), count - found.size(0))};
}

}  // namespace torchwatch::models::detection
