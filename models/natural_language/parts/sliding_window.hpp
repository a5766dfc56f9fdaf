#pragma once

#include <limits>

#include "torchwatch/models/torch.hpp"

// Longformer's attention to neighbours only (arXiv 2004.05150), by dense products of overlapping
// chunks: a chunk is two reaches long and begins a reach after the one before. Scores are kept by
// relative place, batch x length x heads x (2 * reach + 1), where column `reach` is the token
// itself.

namespace torchwatch::models::sliding_window {

using torch::indexing::None;
using torch::indexing::Slice;

/// (batch * heads) x length x width as overlapping chunks of itself.
inline torch::Tensor overlapping_chunks(const torch::Tensor& x, std::int64_t reach) {
  const auto chunks = x.size(1) / (2 * reach);
  const auto apart = x.view({x.size(0), chunks, 2 * reach, x.size(2)});
  auto sizes = apart.sizes().vec();
  auto strides = apart.strides().vec();
  sizes[1] = sizes[1] * 2 - 1;
  strides[1] = strides[1] / 2;
  return apart.as_strided(sizes, strides);
}

/// batch x length x heads x width as (batch * heads) x length x width.
inline torch::Tensor merged_heads(const torch::Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0) * x.size(2), x.size(1), x.size(3)});
}

/// Makes never seen what lies before the first token or behind the last.
inline void hide_outside(torch::Tensor& scores, std::int64_t reach) {
  const auto triangle = scores.new_ones({reach, reach + 1}).tril().flip({0});
  const auto before = triangle.unsqueeze(0).unsqueeze(2);
  const auto behind = before.flip({1, 3});
  const auto hide = [](torch::Tensor part, const torch::Tensor& hidden) {
    const auto never = torch::full_like(part, -std::numeric_limits<float>::infinity());
    part.copy_(torch::where(hidden.expand(part.sizes()).to(torch::kBool), never, part));
  };
  hide(scores.index({Slice(), Slice(None, reach), Slice(), Slice(None, reach + 1)}), before);
  hide(scores.index({Slice(), Slice(-reach, None), Slice(), Slice(-(reach + 1), None)}), behind);
}

/// Converts the products of chunks with themselves, whose diagonals are wanted, into scores by
/// relative place: one more row, read as one more column, moves each row on by one.
inline torch::Tensor by_relative_place(const torch::Tensor& products, std::int64_t reach) {
  const auto shifted = torch::constant_pad_nd(products, {0, 0, 0, 1})
                           .view({products.size(0), products.size(1), 2 * reach, 2 * reach + 1});
  auto scores = shifted.new_zeros({shifted.size(0), shifted.size(1) + 1, reach, 2 * reach + 1});
  // Itself and the tokens behind: from each chunk's first half, and the last chunk's second.
  scores.index_put_({Slice(), Slice(None, -1), Slice(), Slice(reach, None)},
                    shifted.index({Slice(), Slice(), Slice(None, reach), Slice(None, reach + 1)}));
  scores.index_put_({Slice(), -1, Slice(), Slice(reach, None)},
                    shifted.index({Slice(), -1, Slice(reach, None), Slice(None, reach + 1)}));
  // The tokens before.
  scores.index_put_(
      {Slice(), Slice(1, None), Slice(), Slice(None, reach)},
      shifted.index({Slice(), Slice(), Slice(-(reach + 1), -1), Slice(reach + 1, None)}));
  scores.index_put_({Slice(), 0, Slice(1, reach), Slice(1, reach)},
                    shifted.index({Slice(), 0, Slice(None, reach - 1), Slice(1 - reach, None)}));
  return scores;
}

/// The products of each query with the keys around it. Both are batch x length x heads x width.
inline torch::Tensor relative_scores(const torch::Tensor& query, const torch::Tensor& key,
                                     std::int64_t reach) {
  const auto queries = overlapping_chunks(merged_heads(query), reach);
  const auto keys = overlapping_chunks(merged_heads(key), reach);
  const auto products = torch::einsum("bcxd,bcyd->bcxy", {queries, keys});
  auto scores = by_relative_place(products, reach)
                    .view({query.size(0), query.size(2), query.size(1), 2 * reach + 1})
                    .transpose(2, 1);
  hide_outside(scores, reach);
  return scores;
}

/// Undoes `by_relative_place` for weights: each row moves by one, so that columns are tokens.
inline torch::Tensor by_token(const torch::Tensor& weights, std::int64_t reach) {
  const auto merged = weights.size(0);
  const auto chunks = weights.size(1);
  const auto columns = weights.size(3);
  return torch::constant_pad_nd(weights, {0, reach + 1})
      .view({merged, chunks, -1})
      .index({Slice(), Slice(), Slice(None, -reach)})
      .view({merged, chunks, reach, reach + columns})
      .index({Slice(), Slice(), Slice(), Slice(None, -1)});
}

/// The values around each token, weighted. `value` is batch x length x heads x width.
inline torch::Tensor weighted_values(const torch::Tensor& weights, const torch::Tensor& value,
                                     std::int64_t reach) {
  const auto batch = value.size(0);
  const auto length = value.size(1);
  const auto heads = value.size(2);
  const auto width = value.size(3);
  const auto chunked =
      weights.transpose(1, 2).reshape({batch * heads, length / reach, reach, 2 * reach + 1});
  const auto padded = torch::constant_pad_nd(merged_heads(value), {0, 0, reach, reach}, -1);
  const auto strides = padded.strides();
  const auto around = padded.as_strided({batch * heads, length / reach, 3 * reach, width},
                                        {strides[0], reach * strides[1], strides[1], strides[2]});
  const auto sums = torch::einsum("bcwd,bcdh->bcwh", {by_token(chunked, reach), around});
  return sums.view({batch, heads, length, width}).transpose(1, 2);
}

}  // namespace torchwatch::models::sliding_window
