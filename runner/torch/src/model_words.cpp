#include "torchwatch/torch/model_words.hpp"

namespace torchwatch::runner {

models::Precision precision_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return models::Precision::fp32;
    case Precision::tf32:
      return models::Precision::tf32;
    case Precision::fp16:
      return models::Precision::fp16;
    case Precision::bf16:
      return models::Precision::bf16;
    case Precision::amp:
      return models::Precision::amp;
  }
  return models::Precision::fp32;
}

models::Backend backend_of(Backend backend) {
  switch (backend) {
    case Backend::eager:
      return models::Backend::eager;
    case Backend::torchscript:
      return models::Backend::torchscript;
    case Backend::aot_inductor:
      return models::Backend::aot_inductor;
  }
  return models::Backend::eager;
}

}  // namespace torchwatch::runner
