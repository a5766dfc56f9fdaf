#pragma once

#include "layers.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// Parts shared by networks that translate images by residual blocks (CycleGAN and its followers):
/// the block and the discriminator of overlapping patches.

/// A convolution over an image that is mirrored at its borders, as two modules of a sequence.
inline void push_mirrored(torch::nn::Sequential& layers, int from, int to, int kernel) {
  layers->push_back(torch::nn::ReflectionPad2d(kernel / 2));
  layers->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(from, to, kernel)));
}

/// A normalisation of the kind `Norm` and an activation in place.
template <typename Norm>
void push_norm_relu(torch::nn::Sequential& layers, int channels) {
  layers->push_back(Norm(channels));
  layers->push_back(in_place_relu());
}

/// Some layers, added to their input.
struct ResnetBlockImpl : torch::nn::Module {
  explicit ResnetBlockImpl(const torch::nn::Sequential& layers)
      : conv_block(register_module("conv_block", layers)) {}

  torch::Tensor forward(const torch::Tensor& x) { return x + conv_block->forward(x); }

  torch::nn::Sequential conv_block;
};
TORCH_MODULE(ResnetBlock);

/// The residual block of two mirrored 3x3 convolutions.
template <typename Norm>
ResnetBlock mirrored_block(int channels) {
  torch::nn::Sequential layers;
  push_mirrored(layers, channels, channels, 3);
  push_norm_relu<Norm>(layers, channels);
  push_mirrored(layers, channels, channels, 3);
  layers->push_back(Norm(channels));
  return ResnetBlock(layers);
}

/// Judges overlapping patches of 70x70 of an RGB image, instance by instance.
inline torch::nn::Sequential patch_discriminator(int width, int padding) {
  namespace nn = torch::nn;
  nn::Sequential layers;
  const auto convolve = [&](int from, int to, int stride) {
    layers->push_back(nn::Conv2d(nn::Conv2dOptions(from, to, 4).stride(stride).padding(padding)));
  };
  const auto activate = [&] {
    layers->push_back(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2).inplace(true)));
  };
  convolve(3, width, 2);
  activate();
  for (int channels = width; channels < 8 * width; channels *= 2) {
    convolve(channels, 2 * channels, channels < 4 * width ? 2 : 1);
    layers->push_back(nn::InstanceNorm2d(2 * channels));
    activate();
  }
  convolve(8 * width, 1, 1);
  return layers;
}

}  // namespace torchwatch::models
