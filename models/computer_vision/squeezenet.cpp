#include "parts/layers.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace squeezenet {

namespace nn = torch::nn;

constexpr int kPaperImage = 224;
constexpr int kSmallImage = 64;
constexpr int kClasses = 1000;
constexpr int kPasses = 16;  ///< forward and backward passes of a training step

nn::MaxPool2d pool() {
  return nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).ceil_mode(true));
}

/// Few channels, then many: half of them by 1x1 convolutions, half by 3x3.
struct FireImpl : nn::Module {
  FireImpl(int from, int squeezed, int expanded)
      : squeeze(register_module("squeeze", nn::Conv2d(nn::Conv2dOptions(from, squeezed, 1)))),
        expand1x1(
            register_module("expand1x1", nn::Conv2d(nn::Conv2dOptions(squeezed, expanded, 1)))),
        expand3x3(register_module(
            "expand3x3", nn::Conv2d(nn::Conv2dOptions(squeezed, expanded, 3).padding(1)))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = squeeze(x).relu_();
    return torch::cat({expand1x1(y).relu_(), expand3x3(y).relu_()}, 1);
  }

  nn::Conv2d squeeze;
  nn::Conv2d expand1x1;
  nn::Conv2d expand3x3;
};
TORCH_MODULE(Fire);

/// Eight fire modules; no normalisation and no linear layer.
struct SqueezeNetImpl : nn::Module {
  SqueezeNetImpl()
      : features(register_module(
            "features",
            nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 64, 3).stride(2)), in_place_relu(),
                           pool(), Fire(64, 16, 64), Fire(128, 16, 64), pool(), Fire(128, 32, 128),
                           Fire(256, 32, 128), pool(), Fire(256, 48, 192), Fire(384, 48, 192),
                           Fire(384, 64, 256), Fire(512, 64, 256)))) {
    const nn::Conv2d last(nn::Conv2dOptions(512, kClasses, 1));
    classifier = register_module("classifier", nn::Sequential(nn::Dropout(), last, in_place_relu(),
                                                              nn::AdaptiveAvgPool2d(1)));
    initialise();
    nn::init::normal_(last->weight, 0, 0.01);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return torch::flatten(classifier->forward(features->forward(x)), 1);
  }

  nn::Sequential features;
  nn::Sequential classifier{nullptr};

 private:
  void initialise() {
    for (const auto& module : modules(/*include_self=*/false)) {
      auto* convolution = module->as<nn::Conv2dImpl>();
      if (convolution == nullptr) continue;
      nn::init::kaiming_uniform_(convolution->weight);
      nn::init::zeros_(convolution->bias);
    }
  }
};
TORCH_MODULE(SqueezeNet);

class SqueezeNetWorkload final : public NetworkWorkload {
 public:
  explicit SqueezeNetWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const int image = setup.preset == Preset::paper ? kPaperImage : kSmallImage;
    adopt({network_.ptr()});
    images_ = place(draw().normal({setup.batch, 3, image, image}));
    if (is_training()) targets_ = place(draw().integers(kClasses, {kPasses, setup.batch}));
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(images_)}}; }
  torch::Tensor loss() override { return loss_of(targets_[0]); }

  /// Sixteen passes make the gradients of one step, which a new optimiser makes.
  void train_step() override {
    torch::optim::Adam optimizer(parameters(), torch::optim::AdamOptions(1e-3));
    optimizer.zero_grad();
    for (const auto& target : targets_.unbind()) {
      const auto value = loss_of(target);
      value.backward();
      last_loss_ = value.detach();
    }
    optimizer.step();
  }

 private:
  torch::Tensor loss_of(const torch::Tensor& target) {
    return nn::functional::cross_entropy(network_->forward(images_), target);
  }

  SqueezeNet network_;
  torch::Tensor images_;
  torch::Tensor targets_;  ///< a row for each pass
};

}  // namespace squeezenet

TORCHWATCH_DEFINE(squeezenet1_1) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 32, .infer = 16},
          .small = {.train = 1, .infer = 4},
          .runs_in_16_bits = true,
          .cut = "images 64x64, batch 1 / 4",
          .build = build_as<squeezenet::SqueezeNetWorkload>};
}

}  // namespace torchwatch::models
