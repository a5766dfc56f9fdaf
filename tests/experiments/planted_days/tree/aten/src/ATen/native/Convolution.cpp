#include <ATen/core/Tensor.h>
#include <ATen/ops/mkldnn_convolution_compositeexplicitautograd_dispatch.h>
#include <torch/library.h>

#include <optional>

namespace overlay {

// Convolutions of dense floats, with or without a bias.
at::Tensor convolution(
    const at::Tensor& self,
    const at::Tensor& weight,
    const std::optional<at::Tensor>& bias,
    c10::SymIntArrayRef padding,
    c10::SymIntArrayRef stride,
    c10::SymIntArrayRef dilation,
    c10::SymInt groups) {
  return at::compositeexplicitautograd::mkldnn_convolution_symint(
      self, weight, bias, padding, stride, dilation, groups);
}

} // namespace overlay

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("mkldnn_convolution", overlay::convolution);
}
