#include "parts/rectified_adam.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace tts_angular {

namespace nn = torch::nn;

struct Size {
  std::int64_t frames = 50;
  std::int64_t hidden = 768;
  std::int64_t projection = 256;
  std::int64_t speakers = 64;
};
constexpr Size kPaper{};
constexpr Size kSmall{.frames = 20, .hidden = 192, .projection = 64, .speakers = 8};
constexpr std::int64_t kMels = 40;
constexpr int kLayers = 3;

struct ProjectedLstmImpl : nn::Module {
  ProjectedLstmImpl(std::int64_t inputs, const Size& size)
      : lstm(register_module("lstm",
                             nn::LSTM(nn::LSTMOptions(inputs, size.hidden).batch_first(true)))),
        linear(register_module(
            "linear", nn::Linear(nn::LinearOptions(size.hidden, size.projection).bias(false)))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    lstm->flatten_parameters();
    return linear(std::get<0>(lstm(x)));
  }

  nn::LSTM lstm;
  nn::Linear linear;
};
TORCH_MODULE(ProjectedLstm);

/// A speaker's embedding: the last frame's projection, of length one.
struct SpeakerEncoderImpl : nn::Module {
  explicit SpeakerEncoderImpl(const Size& size)
      : layers(register_module("layers", nn::Sequential())) {
    for (int i = 0; i < kLayers; ++i) {
      layers->push_back(ProjectedLstm(i == 0 ? kMels : size.projection, size));
    }
    for (const auto& each : named_parameters()) {
      const bool is_bias = each.key().find("bias") != std::string::npos;
      if (is_bias) {
        nn::init::zeros_(each.value());
      } else {
        nn::init::xavier_normal_(each.value());
      }
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto last = layers->forward(x).select(1, -1);
    return nn::functional::normalize(last, nn::functional::NormalizeFuncOptions().p(2).dim(1));
  }

  nn::Sequential layers;
};
TORCH_MODULE(SpeakerEncoder);

/// The angular prototypical loss: the similarity of each speaker's first utterance to the mean of
/// every speaker's others, scaled by two learned numbers. They are not given to the optimiser, and
/// do not belong to the network.
struct AngularLossImpl : nn::Module {
  AngularLossImpl()
      : w(register_parameter("w", torch::tensor(10.0F))),
        b(register_parameter("b", torch::tensor(-5.0F))) {}

  /// `x`: speakers x utterances x features. With a single utterance the mean is of nothing, so the
  /// loss is not a number: this is what the original computes with its benchmark's input.
  torch::Tensor forward(const torch::Tensor& x) const {
    using torch::indexing::Slice;
    const auto speakers = x.size(0);
    const auto anchor = x.index({Slice(), Slice(1)}).mean(1);
    const auto positive = x.select(1, 0);
    const auto similarity =
        torch::cosine_similarity(positive.unsqueeze(-1).expand({-1, -1, speakers}),
                                 anchor.unsqueeze(-1).expand({-1, -1, speakers}).transpose(0, 2));
    const auto labels = torch::arange(speakers).to(x.device());
    return nn::functional::cross_entropy(similarity * w + b, labels);
  }

  torch::Tensor w, b;
};
TORCH_MODULE(AngularLoss);

class TtsAngularWorkload final : public NetworkWorkload {
 public:
  explicit TtsAngularWorkload(const Setup& setup)
      : NetworkWorkload(setup), size_(setup.preset == Preset::paper ? kPaper : kSmall) {
    network_ = SpeakerEncoder(size_);
    adopt({network_.ptr()});
    utterances_ = place(draw().uniform({setup.batch, size_.frames, kMels}));
    if (!is_training()) return;
    criterion_->to(device());
    adam_ = std::make_unique<RectifiedAdam>(parameters(), 1e-4);
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(utterances_)}}; }

  torch::Tensor loss() override {
    const auto embeddings = network_->forward(utterances_);
    const auto each = embeddings.size(0) / size_.speakers;
    return criterion_->forward(embeddings.view({size_.speakers, each, -1}));
  }

  void train_step() override {
    adam_->zero_grad();
    const auto value = training_loss();
    value.backward();
    adam_->step();
    last_loss_ = value.detach();
    average_loss_ = 0.01 * value.item<double>() + 0.99 * average_loss_;  // the original waits here
  }

 private:
  Size size_;
  SpeakerEncoder network_{nullptr};
  AngularLoss criterion_;
  torch::Tensor utterances_;
  std::unique_ptr<RectifiedAdam> adam_;
  double average_loss_ = 0;
};

}  // namespace tts_angular

TORCHWATCH_DEFINE(tts_angular) {
  return {.domain = "speech",
          .task = "synthesis",
          .paper = {.train = 64, .infer = 64},
          .small = {.train = 8, .infer = 8},
          .batch_rule = BatchRule::train_in_wholes,
          .build = build_as<tts_angular::TtsAngularWorkload>};
}

}  // namespace torchwatch::models
