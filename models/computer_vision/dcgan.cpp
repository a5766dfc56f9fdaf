#include "parts/layers.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace dcgan {

namespace nn = torch::nn;

struct Size {
  int width = 64;  ///< feature maps of either network's layer next to the image
};
constexpr Size kPaper{};
constexpr Size kSmall{.width = 16};
constexpr int kNoise = 100;
constexpr int kImage = 64;  // fixed by the depth of the networks
constexpr int kEpochs = 5;

/// Normal weights of a small deviation, as the paper of the network asks for.
void initialise(nn::Module& network) {
  constexpr double kDeviation = 0.02;
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* conv = module->as<nn::Conv2dImpl>()) nn::init::normal_(conv->weight, 0, kDeviation);
    if (auto* conv = module->as<nn::ConvTranspose2dImpl>()) {
      nn::init::normal_(conv->weight, 0, kDeviation);
    }
    if (auto* norm = module->as<nn::BatchNorm2dImpl>()) {
      nn::init::normal_(norm->weight, 1, kDeviation);
      nn::init::zeros_(norm->bias);
    }
  }
}

/// Noise to an image, by transposed convolutions.
struct GeneratorImpl : nn::Module {
  explicit GeneratorImpl(int width) {
    const auto grow = [this](int from, int to, int stride, int padding) {
      main->push_back(nn::ConvTranspose2d(
          nn::ConvTranspose2dOptions(from, to, 4).stride(stride).padding(padding).bias(false)));
    };
    const auto normalise = [this](int channels) {
      main->push_back(nn::BatchNorm2d(channels));
      main->push_back(in_place_relu());
    };
    grow(kNoise, 8 * width, 1, 0);
    normalise(8 * width);
    for (int channels = 8 * width; channels > width; channels /= 2) {
      grow(channels, channels / 2, 2, 1);
      normalise(channels / 2);
    }
    grow(width, 3, 2, 1);
    main->push_back(nn::Tanh());
    register_module("main", main);
    initialise(*this);
  }

  torch::Tensor forward(const torch::Tensor& noise) { return main->forward(noise); }

  nn::Sequential main;
};
TORCH_MODULE(Generator);

/// An image to the probability that it is real.
struct DiscriminatorImpl : nn::Module {
  explicit DiscriminatorImpl(int width) {
    const auto shrink = [this](int from, int to, int stride, int padding) {
      main->push_back(
          nn::Conv2d(nn::Conv2dOptions(from, to, 4).stride(stride).padding(padding).bias(false)));
    };
    const auto activate = [this] {
      main->push_back(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2).inplace(true)));
    };
    shrink(3, width, 2, 1);
    activate();
    for (int channels = width; channels < 8 * width; channels *= 2) {
      shrink(channels, 2 * channels, 2, 1);
      main->push_back(nn::BatchNorm2d(2 * channels));
      activate();
    }
    shrink(8 * width, 1, 1, 0);
    main->push_back(nn::Sigmoid());
    register_module("main", main);
    initialise(*this);
  }

  torch::Tensor forward(const torch::Tensor& images) { return main->forward(images).view(-1); }

  nn::Sequential main;
};
TORCH_MODULE(Discriminator);

std::unique_ptr<torch::optim::Adam> adam_for(const nn::Module& network) {
  return std::make_unique<torch::optim::Adam>(network.parameters(),
                                              torch::optim::AdamOptions(2e-4).betas({0.5, 0.999}));
}

class DcganWorkload final : public NetworkWorkload {
 public:
  explicit DcganWorkload(const Setup& setup) : NetworkWorkload(setup), batch_(setup.batch) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    generator_ = Generator(size.width);
    discriminator_ = Discriminator(size.width);
    adopt({generator_.ptr(), discriminator_.ptr()});
    images_ = place(draw().normal({batch_, 3, kImage, kImage}));
    if (!is_training()) return;
    noise_ = place(draw().normal({batch_, kNoise, 1, 1}));
    discriminator_adam_ = adam_for(*discriminator_);
    generator_adam_ = adam_for(*generator_);
  }

 protected:
  /// The original infers with the discriminator alone.
  NamedTensors forward() override { return {{"", discriminator_->forward(images_)}}; }

  /// The discriminator's, for comparing values; training draws other noise each time.
  torch::Tensor loss() override {
    return judged(images_, 1) + judged(generator_->forward(noise_).detach(), 0);
  }

  /// Five epochs of one batch, each with two backward passes of the discriminator before its step
  /// and one of the generator. The means are read back for the progress line.
  void train_step() override {
    for (int epoch = 0; epoch < kEpochs; ++epoch) train_epoch();
  }

 private:
  struct Verdict {
    torch::Tensor loss;
    torch::Tensor mean;
  };

  Verdict judge(const torch::Tensor& images, double label) {
    const auto scores = discriminator_->forward(images);
    const auto labels = torch::full({batch_}, label, torch::TensorOptions().device(device()));
    return {torch::binary_cross_entropy(scores, labels), scores.detach().mean()};
  }

  torch::Tensor judged(const torch::Tensor& images, double label) {
    return judge(images, label).loss;
  }

  static void descend(const Verdict& verdict) {
    verdict.loss.backward();
    verdict.mean.item<float>();
  }

  void train_epoch() {
    discriminator_->zero_grad();
    const auto on_real = judge(images_, 1);
    descend(on_real);
    const auto noise =
        torch::randn({batch_, kNoise, 1, 1}, torch::TensorOptions().device(device()));
    const auto fake = generator_->forward(noise);
    const auto on_fake = judge(fake.detach(), 0);
    descend(on_fake);
    last_loss_ = (on_real.loss + on_fake.loss).detach();
    discriminator_adam_->step();

    generator_->zero_grad();
    descend(judge(fake, 1));
    generator_adam_->step();
  }

  std::int64_t batch_;
  Generator generator_{nullptr};
  Discriminator discriminator_{nullptr};
  torch::Tensor images_;
  torch::Tensor noise_;
  std::unique_ptr<torch::optim::Adam> discriminator_adam_, generator_adam_;
};

}  // namespace dcgan

TORCHWATCH_DEFINE(dcgan) {
  return {.domain = "computer vision",
          .task = "image generation",
          .paper = {.train = 32, .infer = 256},
          .small = {.train = 4, .infer = 16},
          .cut = "16 feature maps, batch 4 / 16",
          .build = build_as<dcgan::DcganWorkload>};
}

}  // namespace torchwatch::models
