#pragma once

#include <array>
#include <string>
#include <vector>

#include "torchwatch/models/torch.hpp"

// The networks of a painter that learns strokes (arXiv 1903.04411): who chooses strokes, who judges
// them, who draws them, and who tells the painting from its subject.

namespace torchwatch::models::painting {

constexpr std::int64_t kCanvas = 128;  ///< pixels of a side; the networks fit no other
constexpr std::int64_t kStrokes = 5;   ///< per action
constexpr std::int64_t kShape = 10;    ///< numbers that describe a stroke, before its colour
constexpr std::int64_t kColour = 3;

constexpr std::array<std::int64_t, 4> kStageWidths{64, 128, 256, 512};

inline torch::nn::Conv2d plain_convolution(std::int64_t from, std::int64_t to, std::int64_t kernel,
                                           std::int64_t stride) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false));
}

struct ActorBlockImpl : torch::nn::Module {
  ActorBlockImpl(std::int64_t from, std::int64_t to, std::int64_t stride)
      : conv1(register_module("conv1", plain_convolution(from, to, 3, stride))),
        bn1(register_module("bn1", torch::nn::BatchNorm2d(to))),
        conv2(register_module("conv2", plain_convolution(to, to, 3, 1))),
        bn2(register_module("bn2", torch::nn::BatchNorm2d(to))),
        shortcut(register_module("shortcut", torch::nn::Sequential())) {
    if (stride == 1 && from == to) return;
    shortcut->push_back(plain_convolution(from, to, 1, stride));
    shortcut->push_back(torch::nn::BatchNorm2d(to));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = bn2(conv2(torch::relu(bn1(conv1(x)))));
    y += shortcut->is_empty() ? x : shortcut->forward(x);
    return torch::relu(y);
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d bn2;
  torch::nn::Sequential shortcut;
};
TORCH_MODULE(ActorBlock);

/// Chooses an action of numbers in (0, 1): a residual network of 18 layers with a stride in its
/// first stage too.
struct ActorImpl : torch::nn::Module {
  ActorImpl(std::int64_t inputs, std::int64_t outputs)
      : conv1(register_module("conv1", plain_convolution(inputs, kStageWidths[0], 3, 2))),
        bn1(register_module("bn1", torch::nn::BatchNorm2d(kStageWidths[0]))) {
    auto from = kStageWidths[0];
    for (std::size_t i = 0; i < kStageWidths.size(); ++i) {
      const auto to = kStageWidths[i];
      stages.push_back(
          register_module("layer" + std::to_string(i + 1),
                          torch::nn::Sequential(ActorBlock(from, to, 2), ActorBlock(to, to, 1))));
      from = to;
    }
    fc = register_module("fc", torch::nn::Linear(from, outputs));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(bn1(conv1(x)));
    for (auto& stage : stages) x = stage->forward(x);
    x = torch::avg_pool2d(x, 4);
    return torch::sigmoid(fc(x.view({x.size(0), -1})));
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  std::vector<torch::nn::Sequential> stages;
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Actor);

/// ReLU with a learned threshold.
struct TReLUImpl : torch::nn::Module {
  TReLUImpl() : alpha(register_parameter("alpha", torch::zeros({1}))) {}
  torch::Tensor forward(const torch::Tensor& x) { return torch::relu(x - alpha) + alpha; }
  torch::Tensor alpha;
};
TORCH_MODULE(TReLU);

/// A namespace of its own, because modules are counted by type name, and this one is a convolution.
namespace weight_normalised {

/// A convolution whose weight is a direction and, for each output channel, a length.
struct Conv2dImpl : torch::nn::Module {
  explicit Conv2dImpl(const torch::nn::Conv2dOptions& given) : options(given) {
    const torch::nn::Conv2d plain(given);
    bias = register_parameter("bias", plain->bias.detach());
    weight_g = register_parameter("weight_g", torch::norm_except_dim(plain->weight.detach()));
    weight_v = register_parameter("weight_v", plain->weight.detach());
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return torch::conv2d(x, torch::_weight_norm(weight_v, weight_g), bias, options.stride(),
                         std::get<torch::ExpandingArray<2>>(options.padding()));
  }

  torch::nn::Conv2dOptions options;
  torch::Tensor bias, weight_g, weight_v;
};
TORCH_MODULE(Conv2d);

}  // namespace weight_normalised

inline weight_normalised::Conv2d convolution(std::int64_t from, std::int64_t to,
                                             std::int64_t kernel, std::int64_t stride) {
  return weight_normalised::Conv2d(
      torch::nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2));
}

struct CriticBlockImpl : torch::nn::Module {
  CriticBlockImpl(std::int64_t from, std::int64_t to, std::int64_t stride)
      : conv1(register_module("conv1", convolution(from, to, 3, stride))),
        conv2(register_module("conv2", convolution(to, to, 3, 1))),
        shortcut(register_module("shortcut", torch::nn::Sequential())),
        relu_1(register_module("relu_1", TReLU())),
        relu_2(register_module("relu_2", TReLU())) {
    if (stride != 1 || from != to) shortcut->push_back(convolution(from, to, 1, stride));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = conv2(relu_1(conv1(x)));
    y += shortcut->is_empty() ? x : shortcut->forward(x);
    return relu_2(y);
  }

  weight_normalised::Conv2d conv1, conv2;
  torch::nn::Sequential shortcut;
  TReLU relu_1, relu_2;
};
TORCH_MODULE(CriticBlock);

/// The actor's twin without batch normalisation, which judges what an action is worth.
struct CriticImpl : torch::nn::Module {
  CriticImpl(std::int64_t inputs, std::int64_t outputs)
      : conv1(register_module("conv1", convolution(inputs, kStageWidths[0], 3, 2))) {
    auto from = kStageWidths[0];
    for (std::size_t i = 0; i < kStageWidths.size(); ++i) {
      const auto to = kStageWidths[i];
      stages.push_back(
          register_module("layer" + std::to_string(i + 1),
                          torch::nn::Sequential(CriticBlock(from, to, 2), CriticBlock(to, to, 1))));
      from = to;
    }
    fc = register_module("fc", torch::nn::Linear(from, outputs));
    relu_1 = register_module("relu_1", TReLU());
  }

  torch::Tensor forward(torch::Tensor x) {
    x = relu_1(conv1(x));
    for (auto& stage : stages) x = stage->forward(x);
    x = torch::avg_pool2d(x, 4);
    return fc(x.view({x.size(0), -1}));
  }

  weight_normalised::Conv2d conv1;
  std::vector<torch::nn::Sequential> stages;
  torch::nn::Linear fc{nullptr};
  TReLU relu_1{nullptr};
};
TORCH_MODULE(Critic);

/// Draws strokes: ten numbers to an image of what the stroke leaves free.
struct RendererImpl : torch::nn::Module {
  RendererImpl() {
    constexpr std::array<std::int64_t, 5> kWidths{kShape, 512, 1024, 2048, 4096};
    for (std::size_t i = 0; i + 1 < kWidths.size(); ++i) {
      linears.push_back(register_module("fc" + std::to_string(i + 1),
                                        torch::nn::Linear(kWidths[i], kWidths[i + 1])));
    }
    constexpr std::array<std::array<std::int64_t, 2>, 6> kChannels{
        {{16, 32}, {32, 32}, {8, 16}, {16, 16}, {4, 8}, {8, 4}}};
    for (std::size_t i = 0; i < kChannels.size(); ++i) {
      const auto [from, to] = kChannels[i];
      convolutions.push_back(
          register_module("conv" + std::to_string(i + 1),
                          torch::nn::Conv2d(torch::nn::Conv2dOptions(from, to, 3).padding(1))));
    }
    pixel_shuffle = register_module("pixel_shuffle",
                                    torch::nn::PixelShuffle(torch::nn::PixelShuffleOptions(2)));
  }

  torch::Tensor forward(torch::Tensor x) {
    for (auto& linear : linears) x = torch::relu(linear(x));
    x = x.view({-1, 16, 16, 16});
    for (std::size_t i = 0; i < convolutions.size(); i += 2) {
      x = pixel_shuffle(convolutions[i + 1](torch::relu(convolutions[i](x))));
    }
    return 1 - torch::sigmoid(x).view({-1, kCanvas, kCanvas});
  }

  std::vector<torch::nn::Linear> linears;
  std::vector<torch::nn::Conv2d> convolutions;
  torch::nn::PixelShuffle pixel_shuffle{nullptr};
};
TORCH_MODULE(Renderer);

/// Rates how much subject and painting look alike.
struct DiscriminatorImpl : torch::nn::Module {
  DiscriminatorImpl() {
    constexpr std::array<std::int64_t, 6> kChannels{6, 16, 32, 64, 128, 1};
    for (std::size_t i = 0; i + 1 < kChannels.size(); ++i) {
      convolutions.push_back(register_module("conv" + std::to_string(i),
                                             convolution(kChannels[i], kChannels[i + 1], 5, 2)));
    }
    for (std::size_t i = 0; i + 1 < convolutions.size(); ++i) {
      relus.push_back(register_module("relu" + std::to_string(i), TReLU()));
    }
  }

  torch::Tensor forward(torch::Tensor x) {
    for (std::size_t i = 0; i < relus.size(); ++i) x = relus[i](convolutions[i](x));
    return torch::avg_pool2d(convolutions.back()(x), 4).view({-1, 1});
  }

  std::vector<weight_normalised::Conv2d> convolutions;
  std::vector<TReLU> relus;
};
TORCH_MODULE(Discriminator);

}  // namespace torchwatch::models::painting
