#pragma once

#include <cmath>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::reformer {

// The Reformer's two attentions (arXiv 2001.04451). Both cut the text into chunks, each of which
// sees itself and the one before; the first chunk sees the last. The local one takes tokens as they
// come, the hashing one sorts them so that alike ones share a chunk.

struct AttentionSize {
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t head_width = 0;
  std::int64_t chunk = 0;    ///< in tokens
  std::int64_t buckets = 0;  ///< in the hashing attention
};

/// Features for each token, and the buckets the tokens were hashed to, undefined where none.
struct Attended {
  torch::Tensor features;
  torch::Tensor buckets;
};

/// batch x length x (heads * head_width) as batch x heads x length x head_width.
inline torch::Tensor split_heads(const torch::Tensor& x, const AttentionSize& size) {
  return x.view({x.size(0), x.size(1), size.heads, size.head_width}).transpose(2, 1);
}

inline torch::Tensor merge_heads(const torch::Tensor& x) {
  return x.permute({0, 2, 1, 3}).reshape({x.size(0), x.size(2), -1});
}

/// batch x heads x length x ... as batch x heads x chunks x chunk x ...
inline torch::Tensor in_chunks(const torch::Tensor& x, const AttentionSize& size) {
  auto shape = x.sizes().vec();
  shape[2] = -1;
  shape.insert(shape.begin() + 3, size.chunk);
  return x.reshape(shape);
}

/// Each chunk behind the one before it.
inline torch::Tensor with_chunk_before(const torch::Tensor& chunks) {
  using torch::indexing::None;
  using torch::indexing::Slice;
  const auto before = torch::cat({chunks.index({Slice(), Slice(), Slice(-1, None)}),
                                  chunks.index({Slice(), Slice(), Slice(None, -1)})},
                                 2);
  return torch::cat({before, chunks}, 3);
}

/// The attention of one block of the network; the layer's number decides which.
struct AttentionImpl : torch::nn::Module {
  /// `buckets`: those of an earlier call for the same tokens, or undefined.
  virtual Attended attend(const torch::Tensor& x, const torch::Tensor& buckets) = 0;
};

struct LocalSelfAttentionImpl final : AttentionImpl {
  LocalSelfAttentionImpl(const AttentionSize& attention_size, double dropped)
      : size(attention_size), dropout(dropped) {
    const auto all = size.heads * size.head_width;
    const auto projection = torch::nn::LinearOptions(size.width, all).bias(false);
    query = register_module("query", torch::nn::Linear(projection));
    key = register_module("key", torch::nn::Linear(projection));
    value = register_module("value", torch::nn::Linear(projection));
    register_buffer("mask_value_float16", torch::tensor(-1e4F));
    register_buffer("mask_value_float32", torch::tensor(-1e9F));
  }

  Attended attend(const torch::Tensor& x, const torch::Tensor&) override {
    const auto queries = split_heads(query(x), size);
    auto keys = split_heads(key(x), size);
    const auto values = split_heads(value(x), size);
    keys = keys / std::sqrt(static_cast<double>(size.head_width));

    const auto seen = with_chunk_before(in_chunks(keys, size));
    const auto carried = with_chunk_before(in_chunks(values, size));
    const auto scores = torch::matmul(in_chunks(queries, size), seen.transpose(-1, -2));
    auto weights = torch::exp(scores - torch::logsumexp(scores, -1, /*keepdim=*/true));
    weights = torch::dropout(weights, dropout, is_training());
    return {merge_heads(torch::matmul(weights, carried).flatten(2, 3)), {}};
  }

  AttentionSize size;
  double dropout;
  torch::nn::Linear query{nullptr}, key{nullptr}, value{nullptr};
};

/// Puts rows back where they were before they were sorted. Its gradient is a gather as well, which
/// LibTorch would not know.
struct ReverseSort : torch::autograd::Function<ReverseSort> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const torch::Tensor& features,
                                                const torch::Tensor& scores,
                                                const torch::Tensor& order,
                                                const torch::Tensor& places) {
    context->save_for_backward({order});
    return {features.gather(2, places.unsqueeze(-1).expand(features.sizes())),
            scores.gather(2, places)};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto order = context->get_saved_variables()[0];
    const auto each = order.unsqueeze(-1).expand(gradients[0].sizes());
    return {gradients[0].gather(2, each), gradients[1].gather(2, order), {}, {}};
  }
};

struct LSHSelfAttentionImpl final : AttentionImpl {
  explicit LSHSelfAttentionImpl(const AttentionSize& attention_size) : size(attention_size) {
    const auto all = size.heads * size.head_width;
    const auto projection = torch::nn::LinearOptions(size.width, all).bias(false);
    query_key = register_module("query_key", torch::nn::Linear(projection));
    value = register_module("value", torch::nn::Linear(projection));
    register_buffer("self_mask_value_float16", torch::tensor(-1e3F));
    self_mask_value = register_buffer("self_mask_value_float32", torch::tensor(-1e5F));
    register_buffer("mask_value_float16", torch::tensor(-1e4F));
    register_buffer("mask_value_float32", torch::tensor(-1e9F));
  }

  Attended attend(const torch::Tensor& x, const torch::Tensor& known_buckets) override {
    const auto query_keys = split_heads(query_key(x), size);
    const auto values = split_heads(value(x), size);
    const auto buckets = known_buckets.defined()
                             ? known_buckets.view({x.size(0), size.heads, x.size(1)})
                             : hash(query_keys);
    const auto order = stable_order(buckets);
    const auto places = inverse(order);
    const auto tokens = order % x.size(1);

    const auto [sorted_features, sorted_scores] =
        attend_sorted(in_chunks(sorted(query_keys, tokens), size),
                      in_chunks(sorted(values, tokens), size), in_chunks(tokens, size));
    const auto unsorted = ReverseSort::apply(sorted_features, sorted_scores, order, places);
    return {merge_heads(unsorted[0]), buckets.view({x.size(0), size.heads, 1, -1})};
  }

  AttentionSize size;
  torch::nn::Linear query_key{nullptr}, value{nullptr};
  torch::Tensor self_mask_value;

 private:
  /// Tokens by the greatest coordinate of a random rotation, drawn anew each time.
  torch::Tensor hash(const torch::Tensor& query_keys) const {
    const auto vectors = query_keys.detach();
    const auto rotations =
        torch::randn({size.heads, size.head_width, 1, size.buckets / 2}, vectors.options());
    const auto rotated = torch::einsum("bmtd,mdhr->bmhtr", {vectors, rotations});
    const auto buckets = torch::argmax(torch::cat({rotated, -rotated}, -1), -1);
    const auto first = (torch::arange(1, buckets.options()) * size.buckets).view({1, 1, -1, 1});
    return (buckets + first.expand({buckets.size(0), size.heads, 1, 1})).flatten(2, 3);
  }

  /// Sorts by bucket, and within a bucket by position in the text.
  static torch::Tensor stable_order(const torch::Tensor& buckets) {
    const torch::NoGradGuard no_gradients;
    const auto length = buckets.size(-1);
    const auto places =
        torch::arange(length, buckets.options()).view({1, 1, -1}).expand(buckets.sizes());
    return torch::argsort(length * buckets + (places % length), std::int64_t{-1});
  }

  static torch::Tensor inverse(const torch::Tensor& order) {
    const torch::NoGradGuard no_gradients;
    const auto places =
        torch::arange(order.size(-1), order.options()).view({1, 1, -1}).expand(order.sizes());
    return torch::empty_like(order).scatter_(-1, order, places);
  }

  torch::Tensor sorted(const torch::Tensor& x, const torch::Tensor& tokens) const {
    const auto each = tokens.unsqueeze(-1).expand({-1, -1, -1, size.head_width});
    return x.repeat({1, 1, 1, 1}).gather(2, each);
  }

  static torch::Tensor normalised(const torch::Tensor& x) {
    const auto variance = x.pow(2).mean(-1, /*keepdim=*/true);
    return x * torch::rsqrt(variance + 1e-6);
  }

  /// Sorted tokens in chunks: features, and each token's log of the sum of its weights.
  std::pair<torch::Tensor, torch::Tensor> attend_sorted(const torch::Tensor& queries,
                                                        const torch::Tensor& values,
                                                        const torch::Tensor& tokens) const {
    const auto keys = normalised(queries) / std::sqrt(static_cast<double>(size.head_width));
    const auto seen = with_chunk_before(keys);
    const auto carried = with_chunk_before(values);
    auto scores = torch::matmul(queries, seen.transpose(-1, -2));
    const auto seen_tokens = with_chunk_before(tokens);
    const auto is_other = torch::ne(tokens.unsqueeze(-1), seen_tokens.unsqueeze(-2));
    scores = torch::where(is_other, scores, self_mask_value);
    const auto sums = torch::logsumexp(scores, -1, /*keepdim=*/true);
    const auto features = torch::matmul(torch::exp(scores - sums), carried);
    return {features.flatten(2, 3), sums.flatten(2, 3).squeeze(-1)};
  }
};

}  // namespace torchwatch::models::reformer
