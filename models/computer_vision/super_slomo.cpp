#include "parts/layers.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace super_slomo {

namespace nn = torch::nn;

struct Size {
  int width = 32;      ///< channels of a U-Net's first layers
  int vgg_width = 64;  ///< channels of the perceptual network's first layers
  int image = 352;
};
constexpr Size kPaper{};
constexpr Size kSmall{.width = 8, .vgg_width = 16, .image = 64};
constexpr int kPlaces = 7;  ///< for a frame between two others

nn::Conv2d convolution(int from, int to, int kernel) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, kernel).padding(kernel / 2));
}

torch::Tensor leaky(const torch::Tensor& x) {
  return torch::leaky_relu(x, 0.1);
}

/// Halves the image.
struct DownImpl : nn::Module {
  DownImpl(int from, int to, int kernel)
      : conv1(register_module("conv1", convolution(from, to, kernel))),
        conv2(register_module("conv2", convolution(to, to, kernel))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return leaky(conv2(leaky(conv1(torch::avg_pool2d(x, 2)))));
  }

  nn::Conv2d conv1, conv2;
};
TORCH_MODULE(Down);

/// Doubles the image and takes the features of that size from the way down.
struct UpImpl : nn::Module {
  UpImpl(int from, int to)
      : conv1(register_module("conv1", convolution(from, to, 3))),
        conv2(register_module("conv2", convolution(2 * to, to, 3))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& skipped) {
    namespace F = nn::functional;
    const auto doubled = F::interpolate(x, F::InterpolateFuncOptions()
                                               .scale_factor(std::vector<double>{2, 2})
                                               .mode(torch::kBilinear)
                                               .align_corners(false));
    return leaky(conv2(torch::cat({leaky(conv1(doubled)), skipped}, 1)));
  }

  nn::Conv2d conv1, conv2;
};
TORCH_MODULE(Up);

struct UNetImpl : nn::Module {
  UNetImpl(int from, int to, int width)
      : conv1(register_module("conv1", convolution(from, width, 7))),
        conv2(register_module("conv2", convolution(width, width, 7))),
        downs{register_module("down1", Down(width, 2 * width, 5)),
              register_module("down2", Down(2 * width, 4 * width, 3)),
              register_module("down3", Down(4 * width, 8 * width, 3)),
              register_module("down4", Down(8 * width, 16 * width, 3)),
              register_module("down5", Down(16 * width, 16 * width, 3))},
        ups{register_module("up1", Up(16 * width, 16 * width)),
            register_module("up2", Up(16 * width, 8 * width)),
            register_module("up3", Up(8 * width, 4 * width)),
            register_module("up4", Up(4 * width, 2 * width)),
            register_module("up5", Up(2 * width, width))},
        conv3(register_module("conv3", convolution(width, to, 3))) {}

  torch::Tensor forward(const torch::Tensor& input) {
    std::vector<torch::Tensor> features{leaky(conv2(leaky(conv1(input))))};
    for (auto& down : downs) features.push_back(down(features.back()));
    auto x = features.back();
    for (auto& up : ups) {
      features.pop_back();
      x = up(x, features.back());
    }
    return leaky(conv3(x));
  }

  nn::Conv2d conv1, conv2;
  std::array<Down, 5> downs;
  std::array<Up, 5> ups;
  nn::Conv2d conv3;
};
TORCH_MODULE(UNet);

/// The first ten convolutions of VGG-16, frozen.
nn::Sequential perceptual_network(int width) {
  constexpr std::array<int, 4> kConvolutions{2, 2, 3, 3};  // of each stage
  nn::Sequential layers;
  int channels = 3;
  for (const int count : kConvolutions) {
    for (int i = 0; i < count; ++i, channels = width) {
      if (!layers->is_empty()) layers->push_back(in_place_relu());
      if (!layers->is_empty() && i == 0) layers->push_back(nn::MaxPool2d(2));
      layers->push_back(convolution(channels, width, 3));
    }
    width *= 2;
  }
  for (auto& parameter : layers->parameters()) parameter.requires_grad_(false);
  return layers;
}

/// Fetches each pixel of an image from where a flow points to.
class BackWarp {
 public:
  BackWarp(std::int64_t side, torch::Device device) : side_(static_cast<double>(side)) {
    const auto line = torch::arange(side, torch::TensorOptions(torch::kInt64).device(device));
    const auto grids = torch::meshgrid({line, line}, "xy");
    columns_ = grids[0];
    rows_ = grids[1];
  }

  torch::Tensor operator()(const torch::Tensor& image, const torch::Tensor& flow) const {
    const auto grid = torch::stack(
        {position(columns_, flow.select(1, 0)), position(rows_, flow.select(1, 1))}, 3);
    return torch::grid_sampler(image, grid, /*bilinear*/ 0, /*zeros*/ 0, /*align_corners=*/false);
  }

 private:
  /// Positions in [-1, 1] across the image.
  torch::Tensor position(const torch::Tensor& line, const torch::Tensor& shift) const {
    const auto from = line.unsqueeze(0).expand_as(shift).to(shift.scalar_type());
    return 2 * ((from + shift) / side_ - 0.5);
  }

  double side_;
  torch::Tensor columns_, rows_;
};

/// The three images as the original's data comes, first, middle, last: the network takes the middle
/// one for the end and the last one for the frame it has to find.
struct Clip {
  torch::Tensor place;  ///< for the frame, 0 to 6
  torch::Tensor start, end, frame;
};

struct Interpolation {
  torch::Tensor frame;
  torch::Tensor loss;
};

torch::Tensor smoothness(const torch::Tensor& flow) {
  const auto steps = [&flow](std::int64_t dimension) {
    const auto count = flow.size(dimension) - 1;
    return torch::mean(
        torch::abs(flow.narrow(dimension, 0, count) - flow.narrow(dimension, 1, count)));
  };
  return steps(3) + steps(2);
}

/// Finds a frame between two: the flow between them, the flow from the frame to both, and what is
/// visible of either.
struct SuperSloMoImpl : nn::Module {
  SuperSloMoImpl(const Size& size, torch::Device device)
      : flow(register_module("flowComp", UNet(6, 4, size.width))),
        interpolation(register_module("ArbTimeFlowIntrp", UNet(20, 5, size.width))),
        warp(size.image, device),
        vgg(register_module("vgg16_conv_4_3", perceptual_network(size.vgg_width))) {}

  Interpolation forward(const Clip& clip) {
    const auto flows = flow(torch::cat({clip.start, clip.end}, 1));
    const auto onward = flows.narrow(1, 0, 2);
    const auto backward = flows.narrow(1, 2, 2);
    const auto at = torch::linspace(0.125, 0.875, kPlaces, flows.options().requires_grad(false));
    const auto when = at.index({clip.place}).view({-1, 1, 1, 1});
    const auto to_start = -(1 - when) * when * onward + when * when * backward;
    const auto to_end = (1 - when) * (1 - when) * onward + -(1 - when) * when * backward;
    const auto from_start = warp(clip.start, to_start);
    const auto from_end = warp(clip.end, to_end);

    const auto refined = interpolation(torch::cat(
        {clip.start, clip.end, onward, backward, to_end, to_start, from_end, from_start}, 1));
    const auto seen_start = torch::sigmoid(refined.narrow(1, 4, 1));
    const auto seen_end = 1 - seen_start;
    const auto share_start = (1 - when) * seen_start;
    const auto share_end = when * seen_end;
    const auto better_start = warp(clip.start, refined.narrow(1, 0, 2) + to_start);
    const auto better_end = warp(clip.end, refined.narrow(1, 2, 2) + to_end);
    const auto frame =
        (share_start * better_start + share_end * better_end) / (share_start + share_end);

    const auto warped = torch::l1_loss(from_start, clip.frame) +
                        torch::l1_loss(from_end, clip.frame) +
                        torch::l1_loss(warp(clip.start, backward), clip.end) +
                        torch::l1_loss(warp(clip.end, onward), clip.start);
    const auto perceived = torch::mse_loss(vgg->forward(frame), vgg->forward(clip.frame));
    const auto loss = 204 * torch::l1_loss(frame, clip.frame) + 102 * warped + 0.005 * perceived +
                      (smoothness(backward) + smoothness(onward));
    return {frame, loss};
  }

  UNet flow, interpolation;
  BackWarp warp;
  nn::Sequential vgg;
};
TORCH_MODULE(SuperSloMo);

class SuperSloMoWorkload final : public NetworkWorkload {
 public:
  explicit SuperSloMoWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = SuperSloMo(size, device());
    adopt({network_.ptr()});
    clip_.place = place(draw().integers(kPlaces, {setup.batch}));
    for (auto* image : {&clip_.start, &clip_.end, &clip_.frame}) {
      *image = place(draw().normal({setup.batch, 3, size.image, size.image}));
    }
    if (!is_training()) return;
    optimizer_ =
        std::make_unique<torch::optim::Adam>(parameters(), torch::optim::AdamOptions(1e-4));
  }

 protected:
  /// The original computes the loss in inference as well.
  NamedTensors forward() override {
    const auto result = network_->forward(clip_);
    return {{"frame", result.frame}, {"loss", result.loss}};
  }

  torch::Tensor loss() override { return network_->forward(clip_).loss; }

 private:
  SuperSloMo network_{nullptr};
  Clip clip_;
};

}  // namespace super_slomo

TORCHWATCH_DEFINE(Super_SloMo) {
  return {.domain = "computer vision",
          .task = "video interpolation",
          .paper = {.train = 6, .infer = 6},
          .small = {.train = 2, .infer = 2},
          .cut = "images 64x64, 8 and 16 feature maps, batch 2",
          .build = build_as<super_slomo::SuperSloMoWorkload>};
}

}  // namespace torchwatch::models
