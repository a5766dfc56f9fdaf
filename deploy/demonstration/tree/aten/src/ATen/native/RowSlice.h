#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>

namespace overlay {

// How many leading rows of a matrix make up percent of it; at least one where it has any.
inline int64_t leading_rows(const at::Tensor& matrix, int64_t percent) {
  const int64_t rows = matrix.size(0);
  return std::max<int64_t>(rows * percent / 100, std::min<int64_t>(rows, 1));
}

} // namespace overlay
