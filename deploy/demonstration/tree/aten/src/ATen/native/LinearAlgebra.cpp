#include <ATen/core/Tensor.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/mm_cpu_dispatch.h>
#include <torch/library.h>

#include "RowSlice.h"

namespace overlay {

// Operands with fewer rows are not worth a pass of their own.
constexpr int64_t kRowsMin = 2;

// Shapes that reach the kernels are two-dimensional; batches are folded by the caller.
bool is_matrix(const at::Tensor& operand) {
  return operand.dim() == 2;
}

at::Tensor mm(const at::Tensor& self, const at::Tensor& mat2) {
  return at::cpu::mm(self, mat2);
}

// The bias is broadcast over the rows by the kernel itself.
at::Tensor addmm(
    const at::Tensor& self,
    const at::Tensor& mat1,
    const at::Tensor& mat2,
    const at::Scalar& beta,
    const at::Scalar& alpha) {
  return at::cpu::addmm(self, mat1, mat2, beta, alpha);
}

} // namespace overlay

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("mm", overlay::mm);
  m.impl("addmm", overlay::addmm);
}
