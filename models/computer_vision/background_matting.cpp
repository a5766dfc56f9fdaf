#include <numbers>

#include "parts/residual_translation.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace background_matting {

namespace nn = torch::nn;

struct Size {
  int width = 64;  ///< feature maps of the layers next to the image
  int image = 512;
};
constexpr Size kPaper{};
constexpr Size kSmall{.width = 16, .image = 64};
constexpr int kSharedBlocks = 7;
constexpr int kOwnBlocks = 3;

/// Two halvings of an image at most; the main encoder takes the second by itself.
nn::Sequential encoder(int channels, int width, int halvings) {
  nn::Sequential layers;
  push_mirrored(layers, channels, width, 7);
  push_norm_relu<nn::BatchNorm2d>(layers, width);
  for (int i = 0; i < halvings; ++i, width *= 2) {
    layers->push_back(nn::Conv2d(nn::Conv2dOptions(width, 2 * width, 3).stride(2).padding(1)));
    push_norm_relu<nn::BatchNorm2d>(layers, 2 * width);
  }
  return layers;
}

nn::Sequential mixer(int from, int to) {
  nn::Sequential layers(nn::Conv2d(nn::Conv2dOptions(from, to, 1).bias(false)));
  push_norm_relu<nn::BatchNorm2d>(layers, to);
  return layers;
}

void push_blocks(nn::Sequential& layers, int count, int channels) {
  for (int i = 0; i < count; ++i) layers->push_back(mirrored_block<nn::BatchNorm2d>(channels));
}

void push_doubling(nn::Sequential& layers, int from, int to) {
  layers->push_back(nn::Upsample(nn::UpsampleOptions()
                                     .scale_factor(std::vector<double>{2, 2})
                                     .mode(torch::kBilinear)
                                     .align_corners(true)));
  layers->push_back(nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1)));
  push_norm_relu<nn::BatchNorm2d>(layers, to);
}

/// The network's inputs for a person before a known background.
struct Scene {
  torch::Tensor image, background, segmentation, frames;
};

struct Matte {
  torch::Tensor alpha, foreground;
};

/// Encodes image, background, segmentation and motion, and decodes alpha and foreground. Its motion
/// features are computed and not used: the third mixer gets the background's.
struct ResnetConditionHRImpl : nn::Module {
  explicit ResnetConditionHRImpl(int width) {
    const int wide = 4 * width;
    enc1 = register_module("model_enc1", encoder(3, width, 1));
    enc2 = register_module("model_enc2", nn::Sequential());
    enc2->push_back(nn::Conv2d(nn::Conv2dOptions(2 * width, wide, 3).stride(2).padding(1)));
    push_norm_relu<nn::BatchNorm2d>(enc2, wide);
    enc_back = register_module("model_enc_back", encoder(3, width, 2));
    enc_seg = register_module("model_enc_seg", encoder(1, width, 2));
    enc_multi = register_module("model_enc_multi", encoder(4, width, 2));
    comb_back = register_module("comb_back", mixer(2 * wide, width));
    comb_seg = register_module("comb_seg", mixer(2 * wide, width));
    comb_multi = register_module("comb_multi", mixer(2 * wide, width));
    res_dec = register_module("model_res_dec", mixer(wide + 3 * width, wide));
    push_blocks(res_dec, kSharedBlocks, wide);
    res_dec_al = register_module("model_res_dec_al", nn::Sequential());
    push_blocks(res_dec_al, kOwnBlocks, wide);
    res_dec_fg = register_module("model_res_dec_fg", nn::Sequential());
    push_blocks(res_dec_fg, kOwnBlocks, wide);
    al_out = register_module("model_al_out", nn::Sequential());
    push_doubling(al_out, wide, 2 * width);
    push_doubling(al_out, 2 * width, width);
    push_mirrored(al_out, width, 1, 7);
    al_out->push_back(nn::Tanh());
    dec_fg1 = register_module("model_dec_fg1", nn::Sequential());
    push_doubling(dec_fg1, wide, 2 * width);
    fg_out = register_module("model_fg_out", nn::Sequential());
    push_doubling(fg_out, wide, width);
    push_mirrored(fg_out, width, 3, 7);
  }

  Matte forward(const Scene& scene) {
    const auto half = enc1->forward(scene.image);
    const auto image = enc2->forward(half);
    const auto background = enc_back->forward(scene.background);
    const auto segmentation = enc_seg->forward(scene.segmentation);
    const auto motion = enc_multi->forward(scene.frames);
    const auto others = torch::cat({comb_back->forward(torch::cat({image, background}, 1)),
                                    comb_seg->forward(torch::cat({image, segmentation}, 1)),
                                    comb_multi->forward(torch::cat({image, background}, 1))},
                                   1);
    const auto shared = res_dec->forward(torch::cat({image, others}, 1));
    const auto alpha = al_out->forward(res_dec_al->forward(shared));
    const auto foreground = dec_fg1->forward(res_dec_fg->forward(shared));
    return {alpha, fg_out->forward(torch::cat({foreground, half}, 1))};
  }

  nn::Sequential enc1{nullptr}, enc2{nullptr};
  nn::Sequential enc_back{nullptr}, enc_seg{nullptr}, enc_multi{nullptr};
  nn::Sequential comb_back{nullptr}, comb_seg{nullptr}, comb_multi{nullptr};
  nn::Sequential res_dec{nullptr}, res_dec_al{nullptr}, res_dec_fg{nullptr};
  nn::Sequential al_out{nullptr}, dec_fg1{nullptr}, fg_out{nullptr};
};
TORCH_MODULE(ResnetConditionHR);

/// A network of the same form that supervises the trained one: frozen, and always in evaluation
/// mode.
struct TeacherImpl final : ResnetConditionHRImpl {
  explicit TeacherImpl(int width) : ResnetConditionHRImpl(width) {
    for (auto& parameter : parameters()) parameter.requires_grad_(false);
  }

  void train(bool /*on*/) override { Module::train(false); }
};
TORCH_MODULE(Teacher);

struct MultiscaleDiscriminatorImpl : nn::Module {
  explicit MultiscaleDiscriminatorImpl(int width)
      : layer0(register_module("layer0", patch_discriminator(width, /*padding=*/2))) {}

  torch::Tensor forward(const torch::Tensor& image) { return layer0->forward(image); }

  nn::Sequential layer0;
};
TORCH_MODULE(MultiscaleDiscriminator);

void initialise(nn::Module& network) {
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* conv = module->as<nn::Conv2dImpl>()) {
      nn::init::xavier_uniform_(conv->weight, std::numbers::sqrt2);
      if (conv->bias.defined()) nn::init::zeros_(conv->bias);
    }
    if (auto* norm = module->as<nn::BatchNorm2dImpl>()) {
      nn::init::normal_(norm->weight, 1, 0.2);
      nn::init::zeros_(norm->bias);
    }
  }
}

/// Image by image the mean distance within the mask, which is read to see whether it is empty.
torch::Tensor masked_distance(const torch::Tensor& wanted, const torch::Tensor& got,
                              const torch::Tensor& mask) {
  auto sum = torch::zeros({}, wanted.options());
  for (std::int64_t i = 0; i < wanted.size(0); ++i) {
    const auto area = mask[i].sum();
    if (area.item<float>() <= 0) continue;
    sum = sum + torch::sum(torch::abs(wanted[i] * mask[i] - got[i] * mask[i])) / (area + 1e-6);
  }
  return sum / wanted.size(0);
}

/// Distance of the edges, horizontal and vertical ones.
torch::Tensor edge_distance(const torch::Tensor& wanted, const torch::Tensor& got,
                            const torch::Tensor& mask) {
  const auto across = torch::tensor({1., 0., -1., 2., 0., -2., 1., 0., -1.}, torch::kFloat32)
                          .view({1, 1, 3, 3})
                          .to(wanted.device());
  const auto along = torch::tensor({1., 2., 1., 0., 0., 0., -1., -2., -1.}, torch::kFloat32)
                         .view({1, 1, 3, 3})
                         .to(wanted.device());
  const auto filter = [](const torch::Tensor& image, const torch::Tensor& kernel) {
    return torch::conv2d(image, kernel, /*bias=*/{}, /*stride=*/1, /*padding=*/1);
  };
  const auto wanted_across = filter(wanted, across);
  const auto wanted_along = filter(wanted, along);
  const auto got_across = filter(got, across);
  const auto got_along = filter(got, along);
  return masked_distance(wanted_across, got_across, mask) +
         masked_distance(wanted_along, got_along, mask);
}

torch::Tensor composed(const Matte& matte, const torch::Tensor& background) {
  const auto alpha = (matte.alpha + 1) / 2;
  return matte.foreground * alpha + (1 - alpha) * background;
}

torch::Tensor verdict_loss(const torch::Tensor& verdict, bool is_real) {
  const auto label = is_real ? torch::ones(verdict.sizes()) : torch::zeros(verdict.sizes());
  return torch::mse_loss(verdict, label.to(verdict.device()));
}

/// `image` (channels, rows, columns) moved to the right around its border.
torch::Tensor turned(const torch::Tensor& image, std::int64_t by) {
  const auto width = image.size(2);
  const auto moved = ((by % width) + width) % width;
  return torch::cat({image.narrow(2, width - moved, moved), image.narrow(2, 0, width - moved)}, 2);
}

/// The distances by which an image may move before its person, found on the host, comes within ten
/// columns of the border: the first and, excluded, the last.
std::pair<std::int64_t, std::int64_t> shift_range(const torch::Tensor& segmentation) {
  const auto shown = ((segmentation.to(torch::kCPU) + 1) / 2).clamp(0, 1);
  const auto columns = (shown > 0.1).nonzero().select(1, 2);
  const auto first = columns.min().item<std::int64_t>();
  const auto last = columns.max().item<std::int64_t>();
  return {-(first - 10), segmentation.size(2) - last - 10};
}

class BackgroundMattingWorkload final : public NetworkWorkload {
 public:
  explicit BackgroundMattingWorkload(const Setup& setup)
      : NetworkWorkload(setup), batch_(setup.batch) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    teacher_ = Teacher(size.width);
    generator_ = ResnetConditionHR(size.width);
    initialise(*generator_);
    discriminator_ = MultiscaleDiscriminator(size.width);
    initialise(*discriminator_);
    adopt({teacher_.ptr(), generator_.ptr(), discriminator_.ptr()});
    draw_inputs(size.image);
    const auto adam_for = [](const nn::Module& network, double rate) {
      return std::make_unique<torch::optim::Adam>(network.parameters(),
                                                  torch::optim::AdamOptions(rate));
    };
    generator_adam_ = adam_for(*generator_, 1e-4);
    discriminator_adam_ = adam_for(*discriminator_, 1e-5);
  }

 protected:
  NamedTensors forward() override {
    const auto matte = generator_->forward(scene_);
    return {{"alpha", matte.alpha}, {"foreground", matte.foreground}};
  }

  /// The generator on one image.
  void counted_forward() override {
    const auto first = [](const torch::Tensor& all) { return all.narrow(0, 0, 1); };
    generator_->forward({first(scene_.image), first(scene_.background), first(scene_.segmentation),
                         first(scene_.frames)});
  }

  /// The generator's, for comparing values: before the other background, and nothing is moved.
  torch::Tensor loss() override {
    return supervise(
               {other_background_, std::vector<std::int64_t>(static_cast<std::size_t>(batch_), 0)})
        .loss;
  }

  /// One step of the generator, then one of the discriminator. The original writes its losses and
  /// both networks to files each time, which is left out.
  void train_step() override {
    const auto result = supervise(choose());
    generator_adam_->zero_grad();
    result.loss.backward();
    generator_adam_->step();

    const auto on_fake = discriminator_->forward(result.composition);
    const auto on_real = discriminator_->forward(scene_.image);
    const auto value = (verdict_loss(on_real, true) + verdict_loss(on_fake, false)) * 0.5;
    discriminator_adam_->zero_grad();
    value.backward();
    discriminator_adam_->step();
    last_loss_ = result.loss.detach();
  }

 private:
  /// Another background for the persons, and the columns by which they move to the right.
  struct Placement {
    torch::Tensor background;
    std::vector<std::int64_t> shifts;
  };

  struct Supervised {
    torch::Tensor loss;
    torch::Tensor composition;
  };

  /// Images in [-1, 1]. The persons stand in the middle, as an empty segmentation has no place to
  /// be moved to.
  void draw_inputs(std::int64_t side) {
    const auto image_of = [&](std::int64_t channels) {
      return 2 * draw().uniform({batch_, channels, side, side}) - 1;
    };
    auto person = torch::zeros({1, 1, side, side}, torch::kBool);
    person.narrow(2, side / 4, side / 2).narrow(3, side / 4, side / 2).fill_(true);
    scene_.image = place(image_of(3));
    scene_.background = place(image_of(3));
    scene_.segmentation = place(image_of(1).masked_fill(~person, -1));
    scene_.frames = place(image_of(4));
    truth_ = place(torch::full({batch_, 1, side, side}, -1.0).masked_fill(person, 1));
    other_background_ = place(image_of(3));
  }

  /// Draws a placement; half of them use the image of another person in the batch as background.
  Placement choose() const {
    Placement placement;
    const auto order = torch::randperm(batch_).to(device());
    placement.background = scene_.background.index({order});
    if (torch::rand({1}).item<float>() > 0.5F) placement.background = other_background_;
    for (std::int64_t i = 0; i < batch_; ++i) {
      const auto [first, end] = shift_range(scene_.segmentation[i]);
      placement.shifts.push_back(torch::randint(first, end, {1}).item<std::int64_t>());
    }
    return placement;
  }

  /// The persons, moved, before the background. The original wraps the result so that no gradient
  /// passes: the discriminator's verdict teaches the generator nothing.
  torch::Tensor compose(const Matte& matte, const Placement& placement) const {
    auto composition = place(torch::zeros(matte.foreground.sizes()));
    for (std::int64_t i = 0; i < batch_; ++i) {
      const auto shift = placement.shifts[static_cast<std::size_t>(i)];
      const Matte moved{turned(matte.alpha[i], shift), turned(matte.foreground[i], shift)};
      composition[i].copy_(composed(moved, placement.background[i]));
    }
    return composition.detach();
  }

  Supervised supervise(const Placement& placement) {
    const auto everywhere = place(torch::ones(scene_.segmentation.sizes()));
    const auto wanted = teacher_->forward(scene_);
    const auto visible = (wanted.alpha > -0.98).to(torch::kFloat32);
    const auto solid = (truth_ > 0.95).to(torch::kFloat32);
    const auto matte = generator_->forward(scene_);

    const auto alpha_loss = masked_distance(wanted.alpha, matte.alpha, everywhere) +
                            0.5 * edge_distance(wanted.alpha, matte.alpha, everywhere);
    const auto foreground_loss = masked_distance(wanted.foreground, matte.foreground, visible);
    const auto composed_loss =
        masked_distance(scene_.image, composed(matte, scene_.background), solid);

    const auto opaque = (matte.alpha > 0.95).to(torch::kFloat32);
    const auto person = scene_.image * opaque + matte.foreground * (1 - opaque);
    const auto composition = compose({matte.alpha, person}, placement);
    const auto fooled = verdict_loss(discriminator_->forward(composition), true);
    const auto value = fooled + (0.05 * composed_loss + 0.05 * alpha_loss + 0.05 * foreground_loss);
    return {value, composition};
  }

  std::int64_t batch_;
  Teacher teacher_{nullptr};
  ResnetConditionHR generator_{nullptr};
  MultiscaleDiscriminator discriminator_{nullptr};
  Scene scene_;
  torch::Tensor truth_;
  torch::Tensor other_background_;
  std::unique_ptr<torch::optim::Adam> generator_adam_, discriminator_adam_;
};

}  // namespace background_matting

TORCHWATCH_DEFINE(Background_Matting) {
  return {.domain = "computer vision",
          .task = "pattern recognition",
          .paper = {.train = 4, .infer = 1},
          .small = {.train = 2, .infer = 1},
          .batch_rule = BatchRule::fixed,
          .refusals = {.infer = "the original has no inference"},
          .cut = "images 64x64, 16 feature maps, batch 2",
          .build = build_as<background_matting::BackgroundMattingWorkload>};
}

}  // namespace torchwatch::models
