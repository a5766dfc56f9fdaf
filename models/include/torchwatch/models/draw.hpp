#pragma once

#include "torchwatch/models/torch.hpp"
#include "torchwatch/models/workload.hpp"

namespace torchwatch::models {

/// Draws a workload's inputs and targets, on the CPU: random numbers of LibTorch's default
/// generator, or the formula's stream 200000 + k for the k-th tensor drawn.
class Draw {
 public:
  explicit Draw(Fill fill) : fill_(fill) {}

  torch::Tensor normal(at::IntArrayRef shape);                        ///< float32, unit variance
  torch::Tensor uniform(at::IntArrayRef shape);                       ///< float32 in [0, 1)
  torch::Tensor integers(std::int64_t below, at::IntArrayRef shape);  ///< int64 in [0, below)

 private:
  Fill fill_;
  std::uint32_t drawn_ = 0;
};

/// Fills parameters and running statistics by the formula (docs/measuring.md, "Values"). Names
/// decide which are weights, the order decides the stream.
void fill_by_formula(const std::vector<std::pair<std::string, torch::Tensor>>& parameters,
                     const std::vector<std::pair<std::string, torch::Tensor>>& buffers);

/// The formula's hash of element `index` of `stream`.
std::uint32_t formula_hash(std::uint32_t stream, std::uint64_t index);

}  // namespace torchwatch::models
