#pragma once

#include <cmath>
#include <vector>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// 1 where there is a token, of a batch of texts cut into blocks.
struct BlockMasks {
  torch::Tensor blocked;  ///< batch x blocks x block
  torch::Tensor band;     ///< batch x 1 x (blocks - 4) x block x (3 * block)
  torch::Tensor from;     ///< batch x 1 x length x 1
  torch::Tensor to;       ///< batch x 1 x 1 x length
};

/// `visible`: batch x length.
inline BlockMasks block_masks(const torch::Tensor& visible, std::int64_t block) {
  using torch::indexing::Slice;
  const auto batch = visible.size(0);
  const auto length = visible.size(1);
  const auto blocked = visible.view({batch, length / block, block});
  const auto inner = [&](std::int64_t first, std::int64_t end) {
    return blocked.index({Slice(), Slice(first, end)});
  };
  const auto around = torch::cat({inner(1, -3), inner(2, -2), inner(3, -1)}, 2);
  return {.blocked = blocked,
          .band = torch::einsum("blq,blk->blqk", {inner(2, -2), around}).unsqueeze_(1),
          .from = visible.view({batch, 1, length, 1}),
          .to = visible.view({batch, 1, 1, length})};
}

/// BigBird's attention (arXiv 2007.14062): the first and the last block see and are seen by all
/// blocks, every other one sees its neighbours and some random blocks. Query, key and value are
/// batch x heads x length x width.
class BlockSparseAttention {
 public:
  struct Inputs {
    torch::Tensor query, key, value;
    torch::Tensor plan;  ///< random blocks: batch x heads x (blocks - 2) x drawn
    const BlockMasks& masks;
    std::int64_t block = 0;
  };

  explicit BlockSparseAttention(const Inputs& in)
      : in_(in),
        scale_(1 / std::sqrt(static_cast<double>(in.query.size(3)))),
        drawn_(in.plan.size(3) * in.block),
        query_(blocked(in.query)),
        key_(blocked(in.key)),
        value_(blocked(in.value)),
        random_mask_(random_mask()),
        random_key_(gathered(key_)),
        random_value_(gathered(value_)) {}

  /// batch x length x heads x width.
  torch::Tensor context() const {
    const auto first = seeing_all(0);
    const auto second = seeing_ends({.row = 1, .random_row = 0, .neighbours = {1, 2, -1}});
    const auto middle = seeing_neighbours();
    const auto second_last = seeing_ends({.row = -2, .random_row = -1, .neighbours = {-3, -2, -1}});
    const auto last = seeing_all(-1);
    const auto all = torch::cat({first, second, middle, second_last, last}, 2);
    return (all.view(in_.query.sizes()) * in_.masks.from).transpose(1, 2);
  }

 private:
  static constexpr double kPenalty = -10'000.0;

  /// A row next to the first or the last, where neighbours and seen ends coincide.
  struct EdgeRow {
    std::int64_t row;
    std::int64_t random_row;  ///< among the rows that have random blocks
    std::vector<std::int64_t> neighbours;
  };

  torch::Tensor blocked(const torch::Tensor& x) const {
    return x.view({x.size(0), x.size(1), x.size(2) / in_.block, in_.block, x.size(3)});
  }

  static torch::Tensor as_batch(const torch::Tensor& x) {
    return x.reshape({-1, x.size(-2), x.size(-1)});
  }

  static torch::Tensor product(const torch::Tensor& a, const torch::Tensor& b) {
    auto sizes = a.sizes().vec();
    sizes.back() = b.size(-1);
    return torch::bmm(as_batch(a), as_batch(b)).view(sizes);
  }

  static torch::Tensor product_with_transposed(const torch::Tensor& a, const torch::Tensor& b) {
    auto sizes = a.sizes().vec();
    sizes.back() = b.size(-2);
    return torch::bmm(as_batch(a), as_batch(b).transpose(1, 2)).view(sizes);
  }

  static torch::Tensor penalty(const torch::Tensor& visible) { return (1.0 - visible) * kPenalty; }

  /// Batch x heads x (blocks - 2) x block x (drawn * block).
  torch::Tensor random_mask() const {
    using torch::indexing::Slice;
    std::vector<torch::Tensor> seen;
    for (std::int64_t i = 0; i < in_.plan.size(0); ++i) {
      seen.push_back(in_.masks.blocked[i].index({in_.plan[i].flatten()}));
    }
    const auto to =
        torch::stack(seen).view({in_.plan.size(0), in_.plan.size(1), in_.plan.size(2), drawn_});
    const auto from = in_.masks.blocked.index({Slice(), Slice(1, -1)});
    return torch::einsum("blq,bhlk->bhlqk", {from, to});
  }

  /// The random blocks of each row: batch x heads x (blocks - 2) x (drawn * block) x width.
  torch::Tensor gathered(const torch::Tensor& blocks) const {
    const auto each = in_.plan.size(2) * in_.plan.size(3);
    const auto places = torch::arange(in_.plan.numel(), in_.plan.options());
    const auto shift = torch::div(places, each, "floor") * blocks.size(2);
    const auto rows = blocks.reshape({-1, blocks.size(3), blocks.size(4)});
    const auto picked = rows.index_select(0, in_.plan.view(-1) + shift);
    return picked.reshape({blocks.size(0), blocks.size(1), each, blocks.size(3), blocks.size(4)})
        .view({blocks.size(0), blocks.size(1), in_.plan.size(2), drawn_, blocks.size(4)});
  }

  torch::Tensor seeing_all(std::int64_t row) const {
    auto scores = product_with_transposed(query_.select(2, row), in_.key) * scale_;
    scores += penalty(in_.masks.to);
    return product(torch::softmax(scores, -1), in_.value).unsqueeze_(2);
  }

  torch::Tensor seeing_ends(const EdgeRow& edge) const {
    const auto key = seen_by(edge, key_, random_key_);
    const auto value = seen_by(edge, value_, random_value_);
    auto scores = product_with_transposed(query_.select(2, edge.row), key);
    const auto visible = torch::minimum(tokens_seen_by(edge), random_seen_by(edge));
    scores = scores * scale_;
    scores += penalty(visible);
    return product(torch::softmax(scores, -1), value).unsqueeze_(2);
  }

  static torch::Tensor seen_by(const EdgeRow& edge, const torch::Tensor& blocks,
                               const torch::Tensor& random) {
    std::vector<torch::Tensor> seen{blocks.select(2, 0)};
    for (const auto neighbour : edge.neighbours) seen.push_back(blocks.select(2, neighbour));
    seen.push_back(random.select(2, edge.random_row));
    return torch::cat(seen, 2);
  }

  torch::Tensor tokens_seen_by(const EdgeRow& edge) const {
    const auto& to = in_.masks.to;
    const auto length = to.size(3);
    const auto leading = edge.row > 0 ? 3 * in_.block : in_.block;
    const auto trailing = 4 * in_.block - leading;
    return torch::cat({to.narrow(3, 0, leading), to.narrow(3, length - trailing, trailing),
                       to.new_ones({to.size(0), 1, 1, drawn_})},
                      3);
  }

  torch::Tensor random_seen_by(const EdgeRow& edge) const {
    const auto of_row = random_mask_.select(2, edge.random_row);
    const auto others = of_row.new_ones({of_row.size(0), of_row.size(1), in_.block, 4 * in_.block});
    return torch::cat({others, of_row}, 3);
  }

  /// All rows but the two at either end: the first block, three neighbours, random blocks, the
  /// last.
  torch::Tensor seeing_neighbours() const {
    using torch::indexing::Slice;
    const auto rows = [](const torch::Tensor& x, std::int64_t first, std::int64_t end) {
      return x.index({Slice(), Slice(), Slice(first, end)});
    };
    const auto around = [&](const torch::Tensor& x) {
      return torch::cat({rows(x, 1, -3), rows(x, 2, -2), rows(x, 3, -1)}, 3);
    };
    const auto query = rows(query_, 2, -2);
    const auto key = around(key_);
    const auto value = around(value_);
    const auto& to = in_.masks.to;

    auto inner = product_with_transposed(query, key) * scale_;
    auto random = product_with_transposed(query, rows(random_key_, 1, -1)) * scale_;
    auto first = torch::einsum("bhlqd,bhkd->bhlqk", {query, key_.select(2, 0)}) * scale_;
    auto last = torch::einsum("bhlqd,bhkd->bhlqk", {query, key_.select(2, -1)}) * scale_;
    inner += penalty(in_.masks.band);
    first += penalty(to.narrow(3, 0, in_.block).unsqueeze(3));
    last += penalty(to.narrow(3, to.size(3) - in_.block, in_.block).unsqueeze(3));
    random += penalty(rows(random_mask_, 1, -1));

    const auto weights = torch::softmax(torch::cat({first, inner, random, last}, -1), -1);
    const auto part = [&](std::int64_t begin, std::int64_t width) {
      return weights.narrow(4, begin, width);
    };
    const auto block = in_.block;
    auto sums = product(part(block, 3 * block), value);
    sums += product(part(4 * block, drawn_), rows(random_value_, 1, -1));
    sums += torch::einsum("bhlqk,bhkd->bhlqd", {part(0, block), value_.select(2, 0)});
    sums +=
        torch::einsum("bhlqk,bhkd->bhlqd", {part(4 * block + drawn_, block), value_.select(2, -1)});
    return sums;
  }

  Inputs in_;
  double scale_;
  std::int64_t drawn_;                 ///< tokens in the random blocks of a row
  torch::Tensor query_, key_, value_;  ///< batch x heads x blocks x block x width
  torch::Tensor random_mask_, random_key_, random_value_;
};

}  // namespace torchwatch::models
