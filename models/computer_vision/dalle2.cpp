#include "dalle2/decoder.hpp"
#include "dalle2/prior.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace dalle2 {

namespace nn = torch::nn;
using dalle2::ClipSize;

struct Size {
  ClipSize clip;
  std::int64_t image = 256;
  std::int64_t text = 256;  ///< tokens, of which CLIP takes the first
  int depth = 6;            ///< for the prior's transformer
  std::int64_t small_width = 128;
  std::int64_t large_width = 16;
  std::int64_t condition_width = 128;
};
constexpr Size kPaper{};
constexpr Size kSmall{.clip = {.embedding = 64,
                               .image = 28,
                               .patch = 4,
                               .image_width = 64,
                               .vocabulary = 1000,
                               .context = 16,
                               .text_width = 64},
                      .image = 32,
                      .text = 32,
                      .small_width = 16,
                      .large_width = 8,
                      .condition_width = 32};

/// Makes an image of a text: the prior, then the decoder (arXiv 2204.06125), with one step of each
/// diffusion.
struct DALLE2Impl : nn::Module {
  explicit DALLE2Impl(const Size& size) {
    const dalle2::CLIP clip(size.clip);
    prior = register_module("prior", dalle2::DiffusionPrior(clip, size.text, size.depth));
    dalle2::UnetSize unet;
    unet.condition_width = size.condition_width;
    unet.embedding = size.clip.embedding;
    unet.text_width = size.clip.text_width;
    unet.longest_text = size.text;
    decoder = register_module(
        "decoder", dalle2::Decoder(clip, unet, size.image, size.small_width, size.large_width));
  }

  /// The original leaves the dimension of a batch of one away.
  torch::Tensor forward(const torch::Tensor& texts) {
    return decoder->sample(prior->sample(texts), texts);
  }

  dalle2::DiffusionPrior prior{nullptr};
  dalle2::Decoder decoder{nullptr};
};
TORCH_MODULE(DALLE2);

class Dalle2Workload final : public NetworkWorkload {
 public:
  explicit Dalle2Workload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = DALLE2(size);
    adopt({network_.ptr()});
    texts_ = place(draw().integers(size.clip.vocabulary, {setup.batch, size.text}));
    if (is_training()) images_ = place(draw().normal({setup.batch, 3, size.image, size.image}));
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(texts_)}}; }

  torch::Tensor loss() override {
    const auto prior = network_->prior->loss(texts_, images_);
    const auto small = network_->decoder->small_loss(images_, texts_);
    const auto large = network_->decoder->large_loss(images_, texts_);
    return prior + small + large;
  }

  /// Three backward passes. No optimiser follows and nothing clears the gradients: as in the
  /// original they add up from one iteration to the next.
  void train_step() override {
    auto value = network_->prior->loss(texts_, images_);
    value.backward();
    last_loss_ = value.detach();
    value = network_->decoder->small_loss(images_, texts_);
    value.backward();
    last_loss_ = last_loss_ + value.detach();
    value = network_->decoder->large_loss(images_, texts_);
    value.backward();
    last_loss_ = last_loss_ + value.detach();
  }

 private:
  DALLE2 network_{nullptr};
  torch::Tensor texts_;
  torch::Tensor images_;
};

}  // namespace dalle2

TORCHWATCH_DEFINE(DALLE2_pytorch) {
  return {.domain = "computer vision",
          .task = "image generation",
          .paper = {.train = 4, .infer = 1},
          .small = {.train = 1, .infer = 1},
          .cut =
              "images 16x16 and 32x32, 32 tokens of which CLIP takes 16, vocabulary 1,000, widths "
              "64 (CLIP, prior), 16 and 8 (U-Nets), batch 1",
          .build = build_as<dalle2::Dalle2Workload>};
}

}  // namespace torchwatch::models
