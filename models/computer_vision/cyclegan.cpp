#include <optional>
#include <random>

#include "parts/residual_translation.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace cyclegan {

namespace nn = torch::nn;

struct Size {
  int width = 64;  ///< feature maps of the layers next to the image
  int image = 256;
};
constexpr Size kPaper{};
constexpr Size kSmall{.width = 32, .image = 32};
constexpr int kBlocks = 9;
constexpr double kCycleWeight = 10;
constexpr double kIdentityWeight = 0.5;

void initialise(nn::Module& network) {
  const auto fill = [](torch::Tensor& weight, torch::Tensor& bias) {
    nn::init::normal_(weight, 0, 0.02);
    nn::init::zeros_(bias);
  };
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* conv = module->as<nn::Conv2dImpl>()) fill(conv->weight, conv->bias);
    if (auto* conv = module->as<nn::ConvTranspose2dImpl>()) fill(conv->weight, conv->bias);
  }
}

/// Translates an image: two halvings, residual blocks, two doublings.
struct ResnetGeneratorImpl : nn::Module {
  explicit ResnetGeneratorImpl(int width) {
    push_mirrored(model, 3, width, 7);
    push_norm_relu<nn::InstanceNorm2d>(model, width);
    int channels = width;
    for (; channels < 4 * width; channels *= 2) {
      model->push_back(
          nn::Conv2d(nn::Conv2dOptions(channels, 2 * channels, 3).stride(2).padding(1)));
      push_norm_relu<nn::InstanceNorm2d>(model, 2 * channels);
    }
    for (int i = 0; i < kBlocks; ++i) {
      model->push_back(mirrored_block<nn::InstanceNorm2d>(channels));
    }
    for (; channels > width; channels /= 2) {
      model->push_back(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(channels, channels / 2, 3)
                                               .stride(2)
                                               .padding(1)
                                               .output_padding(1)));
      push_norm_relu<nn::InstanceNorm2d>(model, channels / 2);
    }
    push_mirrored(model, width, 3, 7);
    model->push_back(nn::Tanh());
    register_module("model", model);
    initialise(*this);
  }

  torch::Tensor forward(const torch::Tensor& image) { return model->forward(image); }

  nn::Sequential model;
};
TORCH_MODULE(ResnetGenerator);

struct NLayerDiscriminatorImpl : nn::Module {
  explicit NLayerDiscriminatorImpl(int width)
      : model(register_module("model", patch_discriminator(width, /*padding=*/1))) {
    initialise(*this);
  }

  torch::Tensor forward(const torch::Tensor& image) { return model->forward(image); }

  nn::Sequential model;
};
TORCH_MODULE(NLayerDiscriminator);

/// Past translations, so that a discriminator does not see the newest only. Once full, it exchanges
/// half of the images, on average, for old ones. Its memory is allocated at the start, so that no
/// iteration needs more memory than the one before.
class ImagePool {
 public:
  ImagePool(std::uint64_t seed, const torch::Tensor& like)
      : images_(like.new_zeros({kCapacity, like.size(1), like.size(2), like.size(3)})),
        random_(seed) {}

  /// `image`: a batch of one.
  torch::Tensor exchange(const torch::Tensor& image) {
    if (filled_ < kCapacity) {
      images_.narrow(0, filled_++, 1).copy_(image);
      return image.clone();
    }
    if (random_() % 2 == 0) return image.clone();
    const auto chosen = static_cast<std::int64_t>(random_() % kCapacity);
    const auto kept = images_.narrow(0, chosen, 1);
    const auto old = kept.clone();
    kept.copy_(image);
    return old;
  }

 private:
  static constexpr std::int64_t kCapacity = 50;

  torch::Tensor images_;
  std::int64_t filled_ = 0;
  std::mt19937_64 random_;
};

/// Images of both domains, translated there and back again.
struct Translations {
  torch::Tensor fake_b, back_a, fake_a, back_b;
};

/// The least-squares loss of a discriminator's verdict.
torch::Tensor verdict_loss(const torch::Tensor& verdict, bool is_real) {
  const auto label = torch::full({}, is_real ? 1.0 : 0.0, verdict.options().requires_grad(false));
  return torch::mse_loss(verdict, label.expand_as(verdict));
}

template <typename Network>
std::unique_ptr<torch::optim::Adam> adam_for(const Network& first, const Network& second) {
  auto parameters = first->parameters();
  const auto more = second->parameters();
  parameters.insert(parameters.end(), more.begin(), more.end());
  return std::make_unique<torch::optim::Adam>(std::move(parameters),
                                              torch::optim::AdamOptions(2e-4).betas({0.5, 0.999}));
}

class CycleGanWorkload final : public NetworkWorkload {
 public:
  explicit CycleGanWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    generator_a_ = ResnetGenerator(size.width);
    generator_b_ = ResnetGenerator(size.width);
    discriminator_a_ = NLayerDiscriminator(size.width);
    discriminator_b_ = NLayerDiscriminator(size.width);
    adopt({generator_a_.ptr(), generator_b_.ptr(), discriminator_a_.ptr(), discriminator_b_.ptr()});
    real_a_ = place(draw().normal({setup.batch, 3, size.image, size.image}));
    if (!is_training()) return;
    real_b_ = place(draw().normal({setup.batch, 3, size.image, size.image}));
    pool_a_.emplace(setup.seed, real_a_);
    pool_b_.emplace(setup.seed + 1, real_b_);
    generator_adam_ = adam_for(generator_a_, generator_b_);
    discriminator_adam_ = adam_for(discriminator_a_, discriminator_b_);
  }

 protected:
  NamedTensors forward() override { return {{"", generator_a_->forward(real_a_)}}; }

  torch::Tensor loss() override {
    const auto translations = translate();
    freeze_discriminators(true);
    return generator_loss(translations);
  }

  /// Updates both generators, while the discriminators have no gradients, then the discriminators.
  void train_step() override {
    const auto translations = translate();
    freeze_discriminators(true);
    generator_adam_->zero_grad();
    const auto value = generator_loss(translations);
    value.backward();
    generator_adam_->step();

    freeze_discriminators(false);
    discriminator_adam_->zero_grad();
    descend(discriminator_a_, real_b_, pool_b_->exchange(translations.fake_b.detach()));
    descend(discriminator_b_, real_a_, pool_a_->exchange(translations.fake_a.detach()));
    discriminator_adam_->step();
    last_loss_ = value.detach();
  }

 private:
  Translations translate() {
    Translations translations;
    translations.fake_b = generator_a_->forward(real_a_);
    translations.back_a = generator_b_->forward(translations.fake_b);
    translations.fake_a = generator_b_->forward(real_b_);
    translations.back_b = generator_a_->forward(translations.fake_a);
    return translations;
  }

  void freeze_discriminators(bool on) {
    for (auto* network : {&discriminator_a_, &discriminator_b_}) {
      for (auto& parameter : (*network)->parameters()) parameter.requires_grad_(!on);
    }
  }

  torch::Tensor generator_loss(const Translations& translations) {
    const auto same_b = torch::l1_loss(generator_a_->forward(real_b_), real_b_);
    const auto same_a = torch::l1_loss(generator_b_->forward(real_a_), real_a_);
    const auto fooled_a = verdict_loss(discriminator_a_->forward(translations.fake_b), true);
    const auto fooled_b = verdict_loss(discriminator_b_->forward(translations.fake_a), true);
    const auto cycle_a = torch::l1_loss(translations.back_a, real_a_) * kCycleWeight;
    const auto cycle_b = torch::l1_loss(translations.back_b, real_b_) * kCycleWeight;
    return fooled_a + fooled_b + cycle_a + cycle_b + same_b * kCycleWeight * kIdentityWeight +
           same_a * kCycleWeight * kIdentityWeight;
  }

  static void descend(NLayerDiscriminator& discriminator, const torch::Tensor& real,
                      const torch::Tensor& fake) {
    const auto on_real = verdict_loss(discriminator->forward(real), true);
    const auto on_fake = verdict_loss(discriminator->forward(fake), false);
    ((on_real + on_fake) * 0.5).backward();
  }

  ResnetGenerator generator_a_{nullptr}, generator_b_{nullptr};
  NLayerDiscriminator discriminator_a_{nullptr}, discriminator_b_{nullptr};
  torch::Tensor real_a_;
  torch::Tensor real_b_;
  std::optional<ImagePool> pool_a_, pool_b_;
  std::unique_ptr<torch::optim::Adam> generator_adam_, discriminator_adam_;
};

}  // namespace cyclegan

TORCHWATCH_DEFINE(pytorch_CycleGAN_and_pix2pix) {
  return {.domain = "computer vision",
          .task = "image generation",
          .paper = {.train = 1, .infer = 1},
          .small = {.train = 1, .infer = 1},
          .batch_rule = BatchRule::fixed,
          .cut = "images 32x32, 32 feature maps",
          .build = build_as<cyclegan::CycleGanWorkload>};
}

}  // namespace torchwatch::models
