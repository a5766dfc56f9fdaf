#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/nll_loss_forward_cpu_dispatch.h>
#include <torch/library.h>

#include <optional>
#include <tuple>
#include <vector>

namespace overlay {

// Partial sums of the weighted reduction, in floats.
constexpr int64_t kPartialSums = 1024;

std::tuple<at::Tensor, at::Tensor> nll_loss_forward(
    const at::Tensor& self,
    const at::Tensor& target,
    const std::optional<at::Tensor>& weight,
    int64_t reduction,
    int64_t ignore_index) {
  return at::cpu::nll_loss_forward(self, target, weight, reduction, ignore_index);
}

} // namespace overlay

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("nll_loss_forward", overlay::nll_loss_forward);
}
