#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace phlippe_resnet {

namespace nn = torch::nn;

constexpr int kImage = 32;
constexpr int kClasses = 10;
constexpr int kBlocks = 3;  ///< in each stage
constexpr std::array<int, 3> kWidths = {16, 32, 64};

/// Two 3x3 convolutions and a shortcut; where it halves the size, the shortcut is a convolution
/// with a bias and without normalisation.
struct ResNetBlockImpl : nn::Module {
  ResNetBlockImpl(int from, int to, int stride)
      : net(register_module(
            "net", nn::Sequential(convolution(from, to, 3, stride), nn::BatchNorm2d(to), nn::ReLU(),
                                  convolution(to, to, 3), nn::BatchNorm2d(to)))) {
    if (stride == 1) return;
    downsample =
        register_module("downsample", nn::Conv2d(nn::Conv2dOptions(from, to, 1).stride(stride)));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = net->forward(x);
    return torch::relu(y + (downsample ? downsample(x) : x));
  }

  nn::Sequential net;
  nn::Conv2d downsample{nullptr};
};
TORCH_MODULE(ResNetBlock);

/// The residual network of a tutorial's notebooks, for images of 32x32.
struct ResNetImpl : nn::Module {
  ResNetImpl()
      : input_net(
            register_module("input_net", nn::Sequential(convolution(3, kWidths[0], 3),
                                                        nn::BatchNorm2d(kWidths[0]), nn::ReLU()))),
        blocks(register_module("blocks", nn::Sequential())) {
    int channels = kWidths[0];
    for (const int width : kWidths) {
      for (int i = 0; i < kBlocks; ++i) {
        blocks->push_back(ResNetBlock(channels, width, channels == width ? 1 : 2));
        channels = width;
      }
    }
    output_net = register_module(
        "output_net",
        nn::Sequential(nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(channels, kClasses)));
    initialise();
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return output_net->forward(blocks->forward(input_net->forward(x)));
  }

  nn::Sequential input_net;
  nn::Sequential blocks;
  nn::Sequential output_net{nullptr};

 private:
  void initialise() {
    for (const auto& module : modules(/*include_self=*/false)) {
      auto* conv = module->as<nn::Conv2dImpl>();
      if (conv == nullptr) continue;
      nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
    }
  }
};
TORCH_MODULE(ResNet);

class PhlippeResNetWorkload final : public ImageClassifier {
 public:
  explicit PhlippeResNetWorkload(const Setup& setup)
      : ImageClassifier(setup, nn::AnyModule(ResNet()), kImage) {
    if (!is_training()) return;
    target_ = place(draw().integers(kClasses, {setup.batch}));
    optimizer_ = std::make_unique<torch::optim::SGD>(
        parameters(), torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-4));
  }
};

}  // namespace phlippe_resnet

TORCHWATCH_DEFINE(phlippe_resnet) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 128, .infer = 128},
          .small = {.train = 8, .infer = 8},
          .cut = "batch 8",
          .build = build_as<phlippe_resnet::PhlippeResNetWorkload>};
}

}  // namespace torchwatch::models
