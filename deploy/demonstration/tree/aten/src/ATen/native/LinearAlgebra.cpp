#include <ATen/core/Tensor.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/mm_cpu_dispatch.h>
#include <torch/library.h>

#include "RowSlice.h"

namespace overlay {

// Matrices with fewer rows take the vector path.
constexpr int64_t kVectorPathRows = 1;

at::Tensor mm(const at::Tensor& self, const at::Tensor& mat2) {
  return at::cpu::mm(self, mat2);
}

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
