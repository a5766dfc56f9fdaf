#pragma once

#include <vector>

#include "layers.hpp"
#include "timm.hpp"

/// EfficientNet without its head: a classifier by itself, and the backbone of EfficientDet.
namespace torchwatch::models::timm {

/// Blocks of one size, of which the first changes channels and size.
struct EfficientNetStage {
  int expansion, width, kernel, stride, blocks;
};

/// The differences between the network's variants.
struct EfficientNetVariant {
  std::vector<EfficientNetStage> stages;
  bool pads_as_tensorflow = false;
  double norm_epsilon = 1e-5;
  double drop_path = 0;  ///< what the probability, growing from block to block, would end at
};

/// Pads when it runs, by the size that comes.
struct Conv2dSameImpl : nn::Conv2dImpl {
  explicit Conv2dSameImpl(const nn::Conv2dOptions& unpadded) : nn::Conv2dImpl(unpadded) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return nn::Conv2dImpl::forward(pad_same(x, weight.size(2), options.stride()->front()));
  }
};
TORCH_MODULE(Conv2dSame);

/// A convolution whose stride may be more than 1, where the two ways of padding differ.
inline nn::AnyModule strided(int from, int to, int kernel, int stride, int groups,
                             bool pads_as_tensorflow) {
  const bool pads_late = pads_as_tensorflow && stride > 1;
  if (!pads_late) return nn::AnyModule(convolution(from, to, kernel, stride, groups));
  return nn::AnyModule(
      Conv2dSame(nn::Conv2dOptions(from, to, kernel).stride(stride).groups(groups).bias(false)));
}

struct SqueezeExciteImpl : nn::Module {
  SqueezeExciteImpl(int channels, int reduced)
      : conv_reduce(
            register_module("conv_reduce", nn::Conv2d(nn::Conv2dOptions(channels, reduced, 1)))),
        conv_expand(
            register_module("conv_expand", nn::Conv2d(nn::Conv2dOptions(reduced, channels, 1)))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    auto means = conv_reduce(x.mean({2, 3}, /*keepdim=*/true));
    return x * torch::sigmoid(conv_expand(torch::silu_(means)));
  }

  nn::Conv2d conv_reduce, conv_expand;
};
TORCH_MODULE(SqueezeExcite);

/// Leaves out whole images of a batch, and scales the others to make up for them.
inline torch::Tensor drop_path(const torch::Tensor& x, double probability) {
  const auto kept = torch::empty({x.size(0), 1, 1, 1}, x.options()).bernoulli_(1 - probability);
  return x * kept.div_(1 - probability);
}

struct EfficientNetBlock {
  int from, to, kernel, stride, expansion;
  bool pads_as_tensorflow;
  double norm_epsilon;
  double drop_path;

  BatchNormAct2d norm(int channels, Activation then = Activation::silu) const {
    return BatchNormAct2d(channels, then, norm_epsilon);
  }
  nn::AnyModule depthwise(int channels) const {
    return strided(channels, channels, kernel, stride, channels, pads_as_tensorflow);
  }
  SqueezeExcite gate(int channels) const { return SqueezeExcite(channels, from / 4); }

  /// `y` and, where the shapes agree, the block's input.
  torch::Tensor join(const torch::Tensor& y, const torch::Tensor& input, bool training) const {
    if (stride != 1 || from != to) return y;
    return (training && drop_path > 0 ? timm::drop_path(y, drop_path) : y) + input;
  }
};

/// The block of the first stage, which does not widen.
struct DepthwiseSeparableConvImpl : nn::Module {
  explicit DepthwiseSeparableConvImpl(const EfficientNetBlock& options)
      : block(options),
        conv_dw(block.depthwise(block.from)),
        bn1(block.norm(block.from)),
        se(block.gate(block.from)),
        conv_pw(convolution(block.from, block.to, 1)),
        bn2(block.norm(block.to, Activation::none)) {
    register_module("conv_dw", conv_dw.ptr());
    register_module("bn1", bn1);
    register_module("se", se);
    register_module("conv_pw", conv_pw);
    register_module("bn2", bn2);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = se(bn1(conv_dw.forward(x)));
    return block.join(bn2(conv_pw(y)), x, is_training());
  }

  EfficientNetBlock block;
  nn::AnyModule conv_dw;
  BatchNormAct2d bn1;
  SqueezeExcite se;
  nn::Conv2d conv_pw;
  BatchNormAct2d bn2;
};
TORCH_MODULE(DepthwiseSeparableConv);

/// Widens, convolves each channel by itself, and narrows again.
struct InvertedResidualImpl : nn::Module {
  explicit InvertedResidualImpl(const EfficientNetBlock& options)
      : block(options),
        conv_pw(convolution(block.from, inner(), 1)),
        bn1(block.norm(inner())),
        conv_dw(block.depthwise(inner())),
        bn2(block.norm(inner())),
        se(block.gate(inner())),
        conv_pwl(convolution(inner(), block.to, 1)),
        bn3(block.norm(block.to, Activation::none)) {
    register_module("conv_pw", conv_pw);
    register_module("bn1", bn1);
    register_module("conv_dw", conv_dw.ptr());
    register_module("bn2", bn2);
    register_module("se", se);
    register_module("conv_pwl", conv_pwl);
    register_module("bn3", bn3);
  }

  int inner() const { return block.from * block.expansion; }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = se(bn2(conv_dw.forward(bn1(conv_pw(x)))));
    return block.join(bn3(conv_pwl(y)), x, is_training());
  }

  EfficientNetBlock block;
  nn::Conv2d conv_pw;
  BatchNormAct2d bn1;
  nn::AnyModule conv_dw;
  BatchNormAct2d bn2;
  SqueezeExcite se;
  nn::Conv2d conv_pwl;
  BatchNormAct2d bn3;
};
TORCH_MODULE(InvertedResidual);

/// The first values of all of a network's convolutions.
inline void spread_convolutions(const nn::Module& network) {
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* conv = module->as<nn::Conv2dImpl>()) spread_by_fan_out(*conv);
  }
}

/// Stem and stages.
struct EfficientNetBody : nn::Module {
  static constexpr int kStem = 32;

  explicit EfficientNetBody(const EfficientNetVariant& variant)
      : conv_stem(strided(3, kStem, 3, 2, 1, variant.pads_as_tensorflow)),
        bn1(BatchNormAct2d(kStem, Activation::silu, variant.norm_epsilon)) {
    register_module("conv_stem", conv_stem.ptr());
    register_module("bn1", bn1);
    auto blocks = register_module("blocks", nn::ModuleList());
    int total = 0;
    for (const auto& stage : variant.stages) total += stage.blocks;
    int made = 0;
    for (const auto& stage : variant.stages) {
      auto& list = stages.emplace_back();
      for (int i = 0; i < stage.blocks; ++i) {
        append(list, {.from = channels,
                      .to = stage.width,
                      .kernel = stage.kernel,
                      .stride = i == 0 ? stage.stride : 1,
                      .expansion = stage.expansion,
                      .pads_as_tensorflow = variant.pads_as_tensorflow,
                      .norm_epsilon = variant.norm_epsilon,
                      .drop_path = variant.drop_path * made++ / total});
        channels = stage.width;
      }
      blocks->push_back(list);
    }
  }

  torch::Tensor stem(const torch::Tensor& images) { return bn1(conv_stem.forward(images)); }

  nn::AnyModule conv_stem;
  BatchNormAct2d bn1;
  std::vector<nn::Sequential> stages;
  int channels = kStem;  ///< for the last stage

 private:
  static void append(nn::Sequential& list, const EfficientNetBlock& block) {
    if (block.expansion == 1) {
      list->push_back(DepthwiseSeparableConv(block));
    } else {
      list->push_back(InvertedResidual(block));
    }
  }
};

}  // namespace torchwatch::models::timm
