#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace shufflenet_v2 {

namespace nn = torch::nn;

constexpr int kPaperImage = 224;
constexpr int kSmallImage = 64;
constexpr int kStem = 24;
constexpr int kHead = 1024;

struct Stage {
  int blocks;
  int channels;
};
constexpr std::array<Stage, 3> kStages = {{{4, 116}, {8, 232}, {4, 464}}};

/// Mixes the channels of the two halves, which the next block would otherwise keep apart.
torch::Tensor shuffle(const torch::Tensor& x) {
  const auto shape = x.sizes().vec();
  return x.view({shape[0], 2, shape[1] / 2, shape[2], shape[3]})
      .transpose(1, 2)
      .contiguous()
      .view(shape);
}

/// Works on one half of the channels; where it halves the size, on all of them twice.
struct InvertedResidualImpl : nn::Module {
  InvertedResidualImpl(int from, int to, int stride) : halves_size(stride > 1) {
    const int half = to / 2;
    branch1 = register_module("branch1", nn::Sequential());
    if (halves_size) {
      branch1->push_back(depthwise_convolution(from, 3, stride));
      branch1->push_back(nn::BatchNorm2d(from));
      branch1->push_back(convolution(from, half, 1));
      branch1->push_back(nn::BatchNorm2d(half));
      branch1->push_back(in_place_relu());
    }
    branch2 =
        register_module("branch2", nn::Sequential(convolution(halves_size ? from : half, half, 1),
                                                  nn::BatchNorm2d(half), in_place_relu(),
                                                  depthwise_convolution(half, 3, stride),
                                                  nn::BatchNorm2d(half), convolution(half, half, 1),
                                                  nn::BatchNorm2d(half), in_place_relu()));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    if (halves_size) {
      return shuffle(torch::cat({branch1->forward(x), branch2->forward(x)}, 1));
    }
    const auto halves = x.chunk(2, 1);
    return shuffle(torch::cat({halves[0], branch2->forward(halves[1])}, 1));
  }

  bool halves_size;
  nn::Sequential branch1{nullptr};
  nn::Sequential branch2{nullptr};
};
TORCH_MODULE(InvertedResidual);

nn::Sequential blocks_of(const Stage& stage, int from) {
  nn::Sequential blocks(InvertedResidual(from, stage.channels, 2));
  for (int i = 1; i < stage.blocks; ++i) {
    blocks->push_back(InvertedResidual(stage.channels, stage.channels, 1));
  }
  return blocks;
}

/// Three stages of blocks that split the channels and shuffle them.
struct ShuffleNetV2Impl : nn::Module {
  ShuffleNetV2Impl()
      : conv1(register_module("conv1", nn::Sequential(convolution(3, kStem, 3, 2),
                                                      nn::BatchNorm2d(kStem), in_place_relu()))) {
    int channels = kStem;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      stages[i] = register_module("stage" + std::to_string(i + 2), blocks_of(kStages[i], channels));
      channels = kStages[i].channels;
    }
    conv5 = register_module("conv5", nn::Sequential(convolution(channels, kHead, 1),
                                                    nn::BatchNorm2d(kHead), in_place_relu()));
    fc = register_module("fc", nn::Linear(kHead, TorchvisionClassifier::kClasses));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(conv1->forward(x), 3, 2, 1);
    for (auto& stage : stages) x = stage->forward(x);
    return fc(conv5->forward(x).mean({2, 3}));
  }

  nn::Sequential conv1;
  std::array<nn::Sequential, kStages.size()> stages{nullptr, nullptr, nullptr};
  nn::Sequential conv5{nullptr};
  nn::Linear fc{nullptr};
};
TORCH_MODULE(ShuffleNetV2);

}  // namespace shufflenet_v2

TORCHWATCH_DEFINE(shufflenet_v2_x1_0) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 128, .infer = 64},
          .small = {.train = 4, .infer = 4},
          .runs_in_16_bits = true,
          .cut = "images 64x64, batch 4",
          .build = build_fixed_classifier<TorchvisionClassifier, shufflenet_v2::ShuffleNetV2,
                                          shufflenet_v2::kPaperImage, shufflenet_v2::kSmallImage>};
}

}  // namespace torchwatch::models
