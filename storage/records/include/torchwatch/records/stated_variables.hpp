#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace torchwatch {

/// What the names of environment variables begin with that change what is measured. A runner states
/// those that are set as facts "env.NAME", and no other may be set for a run.
inline constexpr std::array<std::string_view, 13> kStatedVariables{
    "OMP_",  "GOMP_",  "MKL_",     "KMP_",        "MALLOC_", "GLIBC_TUNABLES", "CUBLAS_",
    "CUDA_", "TORCH_", "PYTORCH_", "LD_BIND_NOW", "DNNL_",   "ATEN_"};

/// Returns whether the runner states that variable.
inline bool is_stated(std::string_view name) {
  return std::ranges::any_of(kStatedVariables,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace torchwatch
