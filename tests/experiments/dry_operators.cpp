// Linked into a runner, it leaves the products undone: convolutions and matrix products give zeros
// of the right shape. What a workload asks of LibTorch's allocator stays the same, in a fraction of
// the time; its times and values mean nothing. For memory_estimates.py, see README.md.

#include <torch/library.h>

#include "torchwatch/models/torch.hpp"

namespace {

using at::Tensor;
using Gradients = std::tuple<Tensor, Tensor, Tensor>;

std::vector<std::int64_t> forward_shape(const Tensor& input, const Tensor& weight,
                                        at::IntArrayRef stride, at::IntArrayRef padding,
                                        at::IntArrayRef dilation) {
  std::vector<std::int64_t> shape{input.size(0), weight.size(0)};
  for (std::int64_t i = 2; i < input.dim(); ++i) {
    const auto at = static_cast<std::size_t>(i - 2);
    const auto reach = dilation[at] * (weight.size(i) - 1) + 1;
    shape.push_back((input.size(i) + 2 * padding[at] - reach) / stride[at] + 1);
  }
  return shape;
}

std::vector<std::int64_t> transposed_shape(const Tensor& input, const Tensor& weight,
                                           at::IntArrayRef stride, at::IntArrayRef padding,
                                           at::IntArrayRef dilation, at::IntArrayRef beside,
                                           std::int64_t groups) {
  std::vector<std::int64_t> shape{input.size(0), weight.size(1) * groups};
  for (std::int64_t i = 2; i < input.dim(); ++i) {
    const auto at = static_cast<std::size_t>(i - 2);
    const auto reach = dilation[at] * (weight.size(i) - 1) + 1;
    shape.push_back((input.size(i) - 1) * stride[at] - 2 * padding[at] + reach + beside[at]);
  }
  return shape;
}

/// A list of one number holds for every dimension.
std::vector<std::int64_t> spread(c10::SymIntArrayRef list, std::int64_t dimensions) {
  auto values = C10_AS_INTARRAYREF_SLOW(list).vec();
  if (values.size() == 1) values.resize(static_cast<std::size_t>(dimensions), values[0]);
  return values;
}

Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>&,
                   c10::SymIntArrayRef strides, c10::SymIntArrayRef paddings,
                   c10::SymIntArrayRef dilations, bool transposed, c10::SymIntArrayRef besides,
                   c10::SymInt groups) {
  const auto dimensions = weight.dim() - 2;
  const auto stride = spread(strides, dimensions);
  const auto padding = spread(paddings, dimensions);
  const auto dilation = spread(dilations, dimensions);
  const bool is_batched = input.dim() == weight.dim();
  const auto batch = is_batched ? input : input.unsqueeze(0);
  const auto shape = transposed ? transposed_shape(batch, weight, stride, padding, dilation,
                                                   spread(besides, dimensions), groups.expect_int())
                                : forward_shape(batch, weight, stride, padding, dilation);
  const auto output = at::zeros(shape, input.options());
  return is_batched ? output : output.squeeze(0);
}

Gradients convolution_backward(const Tensor&, const Tensor& input, const Tensor& weight,
                               at::OptionalSymIntArrayRef, c10::SymIntArrayRef, c10::SymIntArrayRef,
                               c10::SymIntArrayRef, bool transposed, c10::SymIntArrayRef,
                               c10::SymInt groups, std::array<bool, 3> wanted) {
  const auto channels = transposed ? weight.size(1) * groups.expect_int() : weight.size(0);
  return {wanted[0] ? at::zeros_like(input) : Tensor(),
          wanted[1] ? at::zeros_like(weight) : Tensor(),
          wanted[2] ? at::zeros({channels}, weight.options()) : Tensor()};
}

Tensor product(const Tensor& a, const Tensor& b) {
  auto shape = a.sizes().vec();
  shape.back() = b.size(-1);
  return at::zeros(shape, a.options());
}

Tensor& product_into(const Tensor& a, const Tensor& b, Tensor& out) {
  auto shape = a.sizes().vec();
  shape.back() = b.size(-1);
  out.resize_(shape);
  return out.zero_();
}

Tensor added_product(const Tensor&, const Tensor& a, const Tensor& b, const at::Scalar&,
                     const at::Scalar&) {
  return product(a, b);
}

Tensor& added_product_into(const Tensor&, const Tensor& a, const Tensor& b, const at::Scalar&,
                           const at::Scalar&, Tensor& out) {
  return product_into(a, b, out);
}

Tensor& product_added_in_place(Tensor& self, const Tensor&, const Tensor&, const at::Scalar&,
                               const at::Scalar&) {
  return self;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, CPU, library) {
  library.impl("convolution", convolution);
  library.impl("convolution_backward", convolution_backward);
  library.impl("mm", product);
  library.impl("mm.out", product_into);
  library.impl("bmm", product);
  library.impl("bmm.out", product_into);
  library.impl("addmm", added_product);
  library.impl("addmm.out", added_product_into);
  library.impl("addmm_", product_added_in_place);
  library.impl("baddbmm", added_product);
  library.impl("baddbmm.out", added_product_into);
  library.impl("baddbmm_", product_added_in_place);
}
