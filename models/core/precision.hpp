#pragma once

#include "torchwatch/models/torch.hpp"
#include "torchwatch/models/workload.hpp"

namespace torchwatch::models {

/// Of parameters and inputs.
torch::ScalarType storage_type(Precision);

/// While it lives, LibTorch's autocast is on for a device in this thread: bf16 on a CPU, fp16 on a
/// GPU, PyTorch's defaults. Weights that were cast are kept for its life.
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
