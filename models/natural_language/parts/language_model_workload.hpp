#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "torchwatch/models/network_workload.hpp"

namespace torchwatch::models {

/// The result of a network with a language-modelling head.
struct LanguageModelOutput {
  torch::Tensor loss;  ///< undefined without labels
  torch::Tensor logits;
  std::vector<torch::Tensor> kept;  ///< keys, values and states that live as long as the output
};

/// Cross entropy over all positions.
inline torch::Tensor token_loss(const torch::Tensor& logits, const torch::Tensor& labels) {
  return torch::nn::functional::cross_entropy(logits.view({-1, logits.size(-1)}), labels.view(-1));
}

/// The suite's recipe for its language models: random tokens and labels, Adam. A network is built
/// of a size and has forward(input_ids, labels), where labels may be undefined.
template <typename Network, typename Size>
class LanguageModelWorkload final : public NetworkWorkload {
 public:
  LanguageModelWorkload(const Setup& setup, const Size& size)
      : NetworkWorkload(setup), network_(size) {
    adopt({network_.ptr()});
    const auto length = is_training() ? size.train_length : size.eval_length;
    input_ids_ = place(draw().integers(size.vocabulary, {setup.batch, length}));
    if (!is_training()) return;
    labels_ = place(draw().integers(size.vocabulary, {setup.batch, length}));
    optimizer_ =
        std::make_unique<torch::optim::Adam>(parameters(), torch::optim::AdamOptions(1e-3));
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(input_ids_, {}).logits}}; }

  /// The whole output lives until the step is done, as in the original. A graph has the loss alone.
  torch::Tensor loss() override {
    auto output = network_->forward(input_ids_, labels_);
    const auto value = output.loss;
    if (!torch::jit::tracer::isTracing()) output_ = std::move(output);
    return value;
  }

  /// Gradients add up, as in the original at the paper's time: it never cleared them.
  void train_step() override {
    const auto value = training_loss();
    value.backward();
    optimizer_->step();
    last_loss_ = value.detach();
    output_ = {};
  }

 private:
  LanguageModelOutput output_;
  Network network_;
  torch::Tensor input_ids_;
  torch::Tensor labels_;
};

/// Builds the workload of a network in one of its two sizes.
template <typename Network, const auto& Paper, const auto& Small>
std::unique_ptr<Workload> build_language_model(const Setup& setup) {
  using Size = std::remove_cvref_t<decltype(Paper)>;
  const Size& size = setup.preset == Preset::paper ? Paper : Small;
  return std::make_unique<LanguageModelWorkload<Network, Size>>(setup, size);
}

}  // namespace torchwatch::models
