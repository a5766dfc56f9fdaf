#include "parts/layers.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace pytorch_unet {

namespace nn = torch::nn;

struct Size {
  int width = 64;  ///< channels at full size; each of the first three halvings doubles them
  int high = 640;
  int wide = 959;  ///< odd, so that every step up has to be padded
};
constexpr Size kPaper{};
constexpr Size kSmall{.width = 16, .high = 64, .wide = 95};
constexpr int kClasses = 2;

/// Two convolutions, each normalised and rectified.
struct DoubleConvImpl : nn::Module {
  DoubleConvImpl(int from, int between, int to)
      : double_conv(register_module("double_conv", nn::Sequential())) {
    append(from, between);
    append(between, to);
  }

  torch::Tensor forward(const torch::Tensor& x) { return double_conv->forward(x); }

  nn::Sequential double_conv;

 private:
  void append(int from, int to) {
    double_conv->push_back(nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1)));
    double_conv->push_back(nn::BatchNorm2d(to));
    double_conv->push_back(in_place_relu());
  }
};
TORCH_MODULE(DoubleConv);

struct DownImpl : nn::Module {
  DownImpl(int from, int to)
      : maxpool_conv(register_module("maxpool_conv",
                                     nn::Sequential(nn::MaxPool2d(2), DoubleConv(from, to, to)))) {}

  torch::Tensor forward(const torch::Tensor& x) { return maxpool_conv->forward(x); }

  nn::Sequential maxpool_conv;
};
TORCH_MODULE(Down);

/// Doubles the image and joins it with the one of that size from the way down.
struct UpImpl : nn::Module {
  UpImpl(int from, int to)
      : up(register_module("up", nn::Upsample(nn::UpsampleOptions()
                                                  .scale_factor(std::vector<double>{2, 2})
                                                  .mode(torch::kBilinear)
                                                  .align_corners(true)))),
        conv(register_module("conv", DoubleConv(from, from / 2, to))) {}

  torch::Tensor forward(const torch::Tensor& low, const torch::Tensor& skipped) {
    auto x = up(low);
    const auto high = skipped.size(2) - x.size(2);
    const auto wide = skipped.size(3) - x.size(3);
    x = torch::constant_pad_nd(x, {wide / 2, wide - wide / 2, high / 2, high - high / 2});
    return conv(torch::cat({skipped, x}, 1));
  }

  nn::Upsample up;
  DoubleConv conv;
};
TORCH_MODULE(Up);

struct OutConvImpl : nn::Module {
  explicit OutConvImpl(int from)
      : conv(register_module("conv", nn::Conv2d(nn::Conv2dOptions(from, kClasses, 1)))) {}

  torch::Tensor forward(const torch::Tensor& x) { return conv(x); }

  nn::Conv2d conv;
};
TORCH_MODULE(OutConv);

/// Milesi's U-Net, with interpolation instead of transposed convolutions.
struct UNetImpl : nn::Module {
  explicit UNetImpl(int width)
      : inc(register_module("inc", DoubleConv(3, width, width))),
        down1(register_module("down1", Down(width, 2 * width))),
        down2(register_module("down2", Down(2 * width, 4 * width))),
        down3(register_module("down3", Down(4 * width, 8 * width))),
        down4(register_module("down4", Down(8 * width, 8 * width))),
        up1(register_module("up1", Up(16 * width, 4 * width))),
        up2(register_module("up2", Up(8 * width, 2 * width))),
        up3(register_module("up3", Up(4 * width, width))),
        up4(register_module("up4", Up(2 * width, width))),
        outc(register_module("outc", OutConv(width))) {}

  torch::Tensor forward(const torch::Tensor& images) {
    const auto x1 = inc(images);
    const auto x2 = down1(x1);
    const auto x3 = down2(x2);
    const auto x4 = down3(x3);
    const auto x5 = down4(x4);
    auto x = up1(x5, x4);
    x = up2(x, x3);
    x = up3(x, x2);
    x = up4(x, x1);
    return outc(x);
  }

  DoubleConv inc;
  Down down1, down2, down3, down4;
  Up up1, up2, up3, up4;
  OutConv outc;
};
TORCH_MODULE(UNet);

/// Class by class in the second dimension, where the original has it.
torch::Tensor mask_of(const torch::Tensor& classes) {
  return torch::one_hot(classes, kClasses).permute({0, 3, 1, 2}).to(torch::kFloat32);
}

/// Twice what both have in common, by the sum of both; over a whole batch.
torch::Tensor dice(const torch::Tensor& guess, const torch::Tensor& truth) {
  constexpr double kEpsilon = 1e-6;
  const auto common = torch::dot(guess.reshape(-1), truth.reshape(-1));
  auto both = guess.sum() + truth.sum();
  if (both.item<float>() == 0) both = 2 * common;  // waits for the device, as the original does
  return (2 * common + kEpsilon) / (both + kEpsilon);
}

torch::Tensor dice_loss(const torch::Tensor& guess, const torch::Tensor& truth) {
  torch::Tensor sum = dice(guess.select(1, 0), truth.select(1, 0));
  for (int i = 1; i < kClasses; ++i) sum += dice(guess.select(1, i), truth.select(1, i));
  return 1 - sum / kClasses;
}

class UNetWorkload final : public NetworkWorkload {
 public:
  explicit UNetWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = UNet(size.width);
    adopt({network_.ptr()});
    images_ = place(draw().uniform({setup.batch, 3, size.high, size.wide}));
    if (!is_training()) return;
    constexpr int kOnlyClass = 1;  // the original's bound, so that all pixels are of class 0
    masks_ = place(draw().integers(kOnlyClass, {setup.batch, size.high, size.wide}));
    optimizer_ = std::make_unique<torch::optim::RMSprop>(
        parameters(), torch::optim::RMSpropOptions(1e-5).weight_decay(1e-8).momentum(0.9));
  }

 protected:
  NamedTensors forward() override {
    const auto logits = network_->forward(images_);
    return {{"logits", logits}, {"mask", mask_of(logits.argmax(1))}};
  }

  torch::Tensor loss() override {
    const auto logits = network_->forward(images_);
    return nn::functional::cross_entropy(logits, masks_) +
           dice_loss(torch::softmax(logits, 1), mask_of(masks_));
  }

  /// The original clears the gradients after the forward.
  void train_step() override {
    const auto value = training_loss();
    optimizer_->zero_grad();
    value.backward();
    optimizer_->step();
    last_loss_ = value.detach();
  }

 private:
  UNet network_{nullptr};
  torch::Tensor images_;
  torch::Tensor masks_;
};

}  // namespace pytorch_unet

TORCHWATCH_DEFINE(pytorch_unet) {
  return {.domain = "computer vision",
          .task = "image segmentation",
          .paper = {.train = 1, .infer = 1},
          .small = {.train = 1, .infer = 1},
          .no_autocast = "its loss multiplies float32 alone",
          .cut = "images 64x95, a quarter of the channels",
          .build = build_as<pytorch_unet::UNetWorkload>};
}

}  // namespace torchwatch::models
