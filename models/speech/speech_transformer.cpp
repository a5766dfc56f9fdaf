#include <algorithm>
#include <cmath>

#include "parts/beam_search.hpp"
#include "parts/speech_transformer_network.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace speech_transformer {

using namespace speech_transformer;

constexpr Size kPaper{};
constexpr Size kSmall{.vocabulary = 1000,
                      .frames = 40,
                      .tokens = 8,
                      .width = 128,
                      .hidden = 512,
                      .longest_hypothesis = 8};
constexpr std::int64_t kFirstCharacter = 3;
constexpr double kSmoothing = 0.1;
constexpr std::int64_t kBeam = 5;

/// Cross entropy where each wrong character keeps a share of the probability.
torch::Tensor smoothed_loss(const Prediction& prediction) {
  const auto logits = prediction.logits.view({-1, prediction.logits.size(2)});
  const auto wanted = prediction.wanted.contiguous().view(-1);
  const auto is_token = wanted.ne(kIgnored);
  const auto index = (is_token.to(torch::kInt64) * wanted).view({-1, 1});
  auto shares = torch::zeros_like(logits).scatter(1, index, 1);
  shares =
      shares * (1 - kSmoothing) + (1 - shares) * kSmoothing / static_cast<double>(logits.size(1));
  const auto count = is_token.sum().item<std::int64_t>();
  const auto loss = -(shares * torch::log_softmax(logits, 1)).sum(1);
  return loss.masked_select(is_token).sum() / count;
}

class SpeechTransformerWorkload final : public NetworkWorkload {
 public:
  explicit SpeechTransformerWorkload(const Setup& setup)
      : NetworkWorkload(setup), size_(setup.preset == Preset::paper ? kPaper : kSmall) {
    network_ = Transformer(size_);
    adopt({network_.ptr()});
    utterances_ = place(draw().normal({setup.batch, size_.frames, kFeatures}));
    lengths_ = place(torch::full({setup.batch}, size_.frames, torch::kInt64));
    target_ = place(kFirstCharacter + draw().integers(size_.vocabulary - kFirstCharacter,
                                                      {setup.batch, size_.tokens}));
    if (!is_training()) return;
    optimizer_ = std::make_unique<torch::optim::Adam>(
        parameters(), torch::optim::AdamOptions().betas({0.9, 0.98}).eps(1e-9));
  }

  /// Infer: finds the likeliest characters.
  void iterate() override {
    if (is_training()) {
      train_step();
      return;
    }
    const torch::NoGradGuard no_gradients;
    const auto memory = network_->encoder(utterances_, lengths_);
    const auto next = [&](const torch::Tensor& tokens) {
      return network_->decoder->next(tokens, memory);
    };
    const BeamSearch::Settings settings{
        .begin = kBegin, .end = kEnd, .width = kBeam, .longest = size_.longest_hypothesis};
    BeamSearch(next, settings, memory.options()).run();
  }

 protected:
  NamedTensors forward() override {
    const auto prediction = network_->forward(utterances_, lengths_, target_);
    return {{"pred", prediction.logits}, {"gold", prediction.wanted}};
  }

  /// A single utterance.
  void counted_forward() override {
    network_->forward(utterances_.narrow(0, 0, 1), lengths_.narrow(0, 0, 1),
                      target_.narrow(0, 0, 1));
  }

  torch::Tensor loss() override {
    return smoothed_loss(network_->forward(utterances_, lengths_, target_));
  }

  /// The original's "validation" updates the network as well, without dropout.
  void train_step() override {
    network_->train();
    update();
    network_->eval();
    update();
  }

 private:
  void update() {
    const auto prediction = network_->forward(utterances_, lengths_, target_);
    const auto value = smoothed_loss(prediction);
    count_correct(prediction);
    optimizer_->zero_grad();
    value.backward();
    set_learning_rate();
    optimizer_->step();
    last_loss_ = value.detach();
    sum_of_losses_ += value.item<double>();  // the original waits here
  }

  /// The original waits for this number too.
  void count_correct(const Prediction& prediction) {
    const auto wanted = prediction.wanted.contiguous().view(-1);
    const auto guess = std::get<1>(prediction.logits.view({-1, prediction.logits.size(2)}).max(1));
    const auto is_correct = guess.eq(wanted).masked_select(wanted.ne(kIgnored));
    correct_ += is_correct.sum().item<std::int64_t>();
  }

  /// Falls with the square root of the steps, after a single one of warming up.
  void set_learning_rate() {
    const auto step = static_cast<double>(++steps_);
    const double rate =
        0.2 / std::sqrt(static_cast<double>(size_.width)) * std::min(1 / std::sqrt(step), step);
    for (auto& group : optimizer_->param_groups()) group.options().set_lr(rate);
  }

  Size size_;
  Transformer network_{nullptr};
  torch::Tensor utterances_;
  torch::Tensor lengths_;
  torch::Tensor target_;
  std::int64_t steps_ = 0;
  std::int64_t correct_ = 0;
  double sum_of_losses_ = 0;
};

}  // namespace speech_transformer

TORCHWATCH_DEFINE(speech_transformer) {
  return {.domain = "speech",
          .task = "recognition",
          .paper = {.train = 32, .infer = 1},
          .small = {.train = 4, .infer = 1},
          .batch_rule = BatchRule::fixed,
          .cut = "40 frames, 8 tokens, vocabulary 1,000, a quarter of each width, batch 4 / 1",
          .build = build_as<speech_transformer::SpeechTransformerWorkload>};
}

}  // namespace torchwatch::models
