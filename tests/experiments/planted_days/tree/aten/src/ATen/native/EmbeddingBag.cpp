#include <ATen/core/Tensor.h>
#include <ATen/ops/_embedding_bag_cpu_dispatch.h>
#include <ATen/ops/_embedding_bag_forward_only_cpu_dispatch.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

namespace overlay {

using Bags = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

// With what the gradient needs; the other one is for weights without a gradient.
Bags embedding_bag(
    const at::Tensor& weight,
    const at::Tensor& indices,
    const at::Tensor& offsets,
    bool scale_grad_by_freq,
    int64_t mode,
    bool sparse,
    const std::optional<at::Tensor>& per_sample_weights,
    bool include_last_offset,
    int64_t padding_idx) {
  return at::cpu::_embedding_bag(
      weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx);
}

Bags embedding_bag_forward_only(
    const at::Tensor& weight,
    const at::Tensor& indices,
    const at::Tensor& offsets,
    bool scale_grad_by_freq,
    int64_t mode,
    bool sparse,
    const std::optional<at::Tensor>& per_sample_weights,
    bool include_last_offset,
    int64_t padding_idx) {
  return at::cpu::_embedding_bag_forward_only(
      weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx);
}

} // namespace overlay

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("_embedding_bag", overlay::embedding_bag);
  m.impl("_embedding_bag_forward_only", overlay::embedding_bag_forward_only);
}
