#pragma once

#include "torchwatch/models/torch.hpp"
#include "torchwatch/models/workload.hpp"

namespace torchwatch::models {

/// The type of parameters and inputs.
torch::ScalarType storage_type(Precision);

/// Keeps LibTorch's autocast on for a device in this thread while it lives: bf16 on a CPU, fp16 on
/// a GPU, PyTorch's defaults. Weights that were cast are kept as long as it lives.
class Autocast {
 public:
  explicit Autocast(torch::Device device);
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast();

 private:
  torch::DeviceType device_;
  bool was_on_;
  torch::ScalarType former_type_;
};

}  // namespace torchwatch::models
