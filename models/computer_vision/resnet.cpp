#include "parts/resnet.hpp"

#include "parts/classifier.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace resnet {

struct Size {
  int width = 64;  ///< channels of the first stage; each stage doubles them
  int image = 224;
};
constexpr Size kPaper{};

std::unique_ptr<Workload> build_resnet(const Setup& setup, const resnet::Architecture& architecture,
                                       const Size& small) {
  const Size& size = setup.preset == Preset::paper ? kPaper : small;
  const resnet::ResNet network(architecture, size.width, TorchvisionClassifier::kClasses);
  return std::make_unique<TorchvisionClassifier>(setup, torch::nn::AnyModule(network), size.image);
}

}  // namespace resnet

TORCHWATCH_DEFINE(resnet152) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 32, .infer = 32},
          .small = {.train = 2, .infer = 2},
          .runs_in_16_bits = true,
          .cut = "images 64x64, first stage 16 channels, batch 2",
          .build = [](const Setup& setup) {
            return resnet::build_resnet(setup, resnet::kResNet152, {.width = 16, .image = 64});
          }};
}

TORCHWATCH_DEFINE(resnet18) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 16, .infer = 8},
          .small = {.train = 4, .infer = 4},
          .runs_in_16_bits = true,
          .cut = "images 64x64, first stage 32 channels, batch 4",
          .build = [](const Setup& setup) {
            return resnet::build_resnet(setup, resnet::kResNet18, {.width = 32, .image = 64});
          }};
}

TORCHWATCH_DEFINE(resnet50) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 32, .infer = 32},
          .small = {.train = 2, .infer = 2},
          .runs_in_16_bits = true,
          .cut = "images 64x64, first stage 32 channels, batch 2",
          .build = [](const Setup& setup) {
            return resnet::build_resnet(setup, resnet::kResNet50, {.width = 32, .image = 64});
          }};
}

TORCHWATCH_DEFINE(resnext50_32x4d) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 8, .infer = 8},
          .small = {.train = 2, .infer = 2},
          .runs_in_16_bits = true,
          .cut = "images 64x64, first stage 32 channels, batch 2",
          .build = [](const Setup& setup) {
            return resnet::build_resnet(setup, resnet::kResNeXt50, {.width = 32, .image = 64});
          }};
}

}  // namespace torchwatch::models
