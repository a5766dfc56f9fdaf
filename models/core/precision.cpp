#include "precision.hpp"

#include <ATen/autocast_mode.h>

namespace torchwatch::models {

torch::ScalarType storage_type(Precision precision) {
  if (precision == Precision::fp16) return torch::kFloat16;
  if (precision == Precision::bf16) return torch::kBFloat16;
  return torch::kFloat32;
}

Autocast::Autocast(torch::Device device)
    : device_(device.type()),
      was_on_(at::autocast::is_autocast_enabled(device_)),
      former_type_(at::autocast::get_autocast_dtype(device_)) {
  at::autocast::set_autocast_dtype(device_, device.is_cuda() ? torch::kFloat16 : torch::kBFloat16);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, was_on_);
  at::autocast::set_autocast_dtype(device_, former_type_);
}

}  // namespace torchwatch::models
