#include <ATen/core/Tensor.h>
#include <ATen/ops/threshold_backward_cpu_dispatch.h>
#include <torch/library.h>

namespace overlay {

// Gradient of relu and its relatives: zero where the input lay below the threshhold.
at::Tensor threshold_backward(
    const at::Tensor& grad_output,
    const at::Tensor& self,
    const at::Scalar& threshold) {
  return at::cpu::threshold_backward(grad_output, self, threshold);
}

} // namespace overlay

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("threshold_backward", overlay::threshold_backward);
}
