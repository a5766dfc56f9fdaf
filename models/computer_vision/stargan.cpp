#include "parts/layers.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace stargan {

namespace nn = torch::nn;

struct Size {
  int width = 64;  ///< feature maps of either network's first layer
  int image = 128;
};
constexpr Size kPaper{};
constexpr Size kSmall{.width = 16, .image = 64};
constexpr int kAttributes = 5;
constexpr int kBlocks = 6;
constexpr int kHalvings = 6;  ///< by the discriminator
constexpr double kPenaltyWeight = 10;

nn::Conv2d convolution(int from, int to, int kernel, int stride) {
  nn::Conv2d layer(
      nn::Conv2dOptions(from, to, kernel).stride(stride).padding((kernel - 1) / 2).bias(false));
  return layer;
}

/// Normalises each image by itself in training, by the running values in evaluation.
nn::InstanceNorm2d instance_norm(int channels) {
  return nn::InstanceNorm2d(
      nn::InstanceNorm2dOptions(channels).affine(true).track_running_stats(true));
}

struct ResidualBlockImpl : nn::Module {
  explicit ResidualBlockImpl(int channels)
      : main(register_module(
            "main", nn::Sequential(convolution(channels, channels, 3, 1), instance_norm(channels),
                                   in_place_relu(), convolution(channels, channels, 3, 1),
                                   instance_norm(channels)))) {}

  torch::Tensor forward(const torch::Tensor& x) { return x + main->forward(x); }

  nn::Sequential main;
};
TORCH_MODULE(ResidualBlock);

/// Gives an image other attributes, which it sees as further constant channels.
struct GeneratorImpl : nn::Module {
  explicit GeneratorImpl(int width) {
    push(convolution(3 + kAttributes, width, 7, 1), width);
    int channels = width;
    for (; channels < 4 * width; channels *= 2) {
      push(convolution(channels, 2 * channels, 4, 2), 2 * channels);
    }
    for (int i = 0; i < kBlocks; ++i) main->push_back(ResidualBlock(channels));
    for (; channels > width; channels /= 2) {
      push(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(channels, channels / 2, 4)
                                   .stride(2)
                                   .padding(1)
                                   .bias(false)),
           channels / 2);
    }
    main->push_back(convolution(width, 3, 7, 1));
    main->push_back(nn::Tanh());
    register_module("main", main);
  }

  torch::Tensor forward(const torch::Tensor& images, const torch::Tensor& attributes) {
    const auto spread = attributes.view({attributes.size(0), attributes.size(1), 1, 1})
                            .repeat({1, 1, images.size(2), images.size(3)});
    return main->forward(torch::cat({images, spread}, 1));
  }

  nn::Sequential main;

 private:
  template <typename Convolution>
  void push(const Convolution& layer, int channels) {
    main->push_back(layer);
    main->push_back(instance_norm(channels));
    main->push_back(in_place_relu());
  }
};
TORCH_MODULE(Generator);

struct Verdict {
  torch::Tensor realness;    ///< per patch
  torch::Tensor attributes;  ///< logits
};

/// Judges an image's patches and tells its attributes.
struct DiscriminatorImpl : nn::Module {
  explicit DiscriminatorImpl(const Size& size) {
    int channels = 3;
    for (int i = 0; i < kHalvings; ++i) {
      const int to = size.width << i;
      main->push_back(nn::Conv2d(nn::Conv2dOptions(channels, to, 4).stride(2).padding(1)));
      main->push_back(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.01)));
      channels = to;
    }
    register_module("main", main);
    conv1 = register_module("conv1", convolution(channels, 1, 3, 1));
    conv2 = register_module(
        "conv2",
        nn::Conv2d(nn::Conv2dOptions(channels, kAttributes, size.image >> kHalvings).bias(false)));
  }

  Verdict forward(const torch::Tensor& images) {
    const auto features = main->forward(images);
    const auto realness = conv1(features);
    const auto attributes = conv2(features);
    return {realness, attributes.view({attributes.size(0), attributes.size(1)})};
  }

  nn::Sequential main;
  nn::Conv2d conv1{nullptr};
  nn::Conv2d conv2{nullptr};
};
TORCH_MODULE(Discriminator);

/// The mean squared distance of the gradients of `verdict` by `images` from unit length.
torch::Tensor gradient_penalty(const torch::Tensor& verdict, const torch::Tensor& images) {
  const auto slope = torch::autograd::grad({verdict}, {images}, {torch::ones_like(verdict)},
                                           /*retain_graph=*/true, /*create_graph=*/true)[0];
  const auto flat = slope.view({slope.size(0), -1});
  const auto length = torch::sqrt(torch::sum(flat.pow(2), 1));
  return torch::mean((length - 1).pow(2));
}

std::unique_ptr<torch::optim::Adam> adam_for(const nn::Module& network) {
  return std::make_unique<torch::optim::Adam>(network.parameters(),
                                              torch::optim::AdamOptions(1e-4).betas({0.5, 0.999}));
}

class StarGanWorkload final : public NetworkWorkload {
 public:
  explicit StarGanWorkload(const Setup& setup) : NetworkWorkload(setup), batch_(setup.batch) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    generator_ = Generator(size.width);
    discriminator_ = Discriminator(size);
    adopt({generator_.ptr(), discriminator_.ptr()});
    images_ = place(draw().normal({batch_, 3, size.image, size.image}));
    attributes_ = place(draw().integers(2, {batch_, kAttributes}).to(torch::kFloat32));
    if (!is_training()) return;
    generator_adam_ = adam_for(*generator_);
    discriminator_adam_ = adam_for(*discriminator_);
  }

 protected:
  NamedTensors forward() override { return {{"", generator_->forward(images_, attributes_)}}; }

  void counted_forward() override {
    generator_->forward(images_.narrow(0, 0, 1), attributes_.narrow(0, 0, 1));
  }

  /// Used to compare values: the target attributes are the images' own.
  torch::Tensor loss() override {
    return discriminator_loss(attributes_, draw().uniform({batch_, 1, 1, 1})).total;
  }

  /// One step of the discriminator, with the gradient of a gradient. The generator would take its
  /// turn in each fifth iteration, but a call of the original makes one: it is never updated. The
  /// parts of the loss are read back for the progress line.
  void train_step() override {
    const auto shuffled = attributes_.index({torch::randperm(batch_).to(device())});
    const auto parts = discriminator_loss(shuffled.clone(), torch::rand({batch_, 1, 1, 1}));
    generator_adam_->zero_grad();
    discriminator_adam_->zero_grad();
    parts.total.backward();
    discriminator_adam_->step();
    for (const auto& part : {parts.real, parts.fake, parts.attributes, parts.penalty}) {
      part.item<float>();
    }
    last_loss_ = parts.total.detach();
  }

 private:
  struct Parts {
    torch::Tensor real, fake, attributes, penalty, total;
  };

  Parts discriminator_loss(const torch::Tensor& wanted, const torch::Tensor& share) {
    Parts parts;
    const auto on_real = discriminator_->forward(images_);
    parts.real = -torch::mean(on_real.realness);
    parts.attributes = torch::binary_cross_entropy_with_logits(on_real.attributes, attributes_, {},
                                                               {}, at::Reduction::Sum) /
                       batch_;
    const auto fake = generator_->forward(images_, wanted);
    parts.fake = torch::mean(discriminator_->forward(fake.detach()).realness);
    const auto alpha = place(share);
    const auto between = (alpha * images_ + (1 - alpha) * fake.detach()).requires_grad_(true);
    parts.penalty = gradient_penalty(discriminator_->forward(between).realness, between);
    parts.total = parts.real + parts.fake + parts.attributes + kPenaltyWeight * parts.penalty;
    return parts;
  }

  std::int64_t batch_;
  Generator generator_{nullptr};
  Discriminator discriminator_{nullptr};
  torch::Tensor images_;
  torch::Tensor attributes_;
  std::unique_ptr<torch::optim::Adam> generator_adam_, discriminator_adam_;
};

}  // namespace stargan

TORCHWATCH_DEFINE(pytorch_stargan) {
  return {.domain = "computer vision",
          .task = "image generation",
          .paper = {.train = 16, .infer = 16},
          .small = {.train = 4, .infer = 4},
          .batch_rule = BatchRule::fixed,
          .cut = "images 64x64, 16 feature maps, batch 4",
          .build = build_as<stargan::StarGanWorkload>};
}

}  // namespace torchwatch::models
