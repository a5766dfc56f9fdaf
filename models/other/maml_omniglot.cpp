#include "parts/omniglot.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace maml_omniglot {

namespace nn = torch::nn;
using Parameters = std::vector<torch::Tensor>;

constexpr double kInnerRate = 0.1;
constexpr double kMomentum = 1.0;  ///< running statistics are those of the last batch
constexpr double kEpsilon = 1e-5;

/// A task's own running statistics of one normalisation.
struct Statistics {
  torch::Tensor mean;
  torch::Tensor variance;
  torch::Tensor batches;
};

/// The network's layers with a task's parameters and statistics in place of its own.
class TaskNetwork {
 public:
  explicit TaskNetwork(nn::Sequential network) : network_(std::move(network)) {
    // Copies that gradients flow through to the network's own.
    for (const auto& each : network_->parameters()) parameters_.push_back(each.clone());
    for (const auto& layer : *network_) {
      const auto* norm = layer.ptr()->as<nn::BatchNorm2d>();
      if (norm == nullptr) continue;
      statistics_.push_back({norm->running_mean.clone(), norm->running_var.clone(),
                             norm->num_batches_tracked.clone()});
    }
  }

  torch::Tensor forward(torch::Tensor x) {
    for (std::size_t i = 0; i < omniglot::kBlocks; ++i) {
      const auto* block = &parameters_[i * omniglot::kBlockParameters];
      x = normalise(torch::conv2d(x, block[0], block[1]), block[2], block[3], statistics_[i]);
      x = torch::max_pool2d(x.relu_(), 2, 2);
    }
    const auto* last = &parameters_[omniglot::kBlocks * omniglot::kBlockParameters];
    return torch::linear(x.flatten(1), last[0], last[1]);
  }

  /// A step of plain gradient descent that can be differentiated.
  void learn(const torch::Tensor& loss) {
    const auto gradients =
        torch::autograd::grad({loss}, parameters_, {}, /*retain_graph=*/std::nullopt,
                              /*create_graph=*/true);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i] = torch::add(parameters_[i], gradients[i], -kInnerRate);
    }
  }

 private:
  torch::Tensor normalise(const torch::Tensor& x, const torch::Tensor& weight,
                          const torch::Tensor& bias, Statistics& statistics) {
    const bool is_training = network_->is_training();
    if (is_training) statistics.batches += 1;
    return torch::batch_norm(x, weight, bias, statistics.mean, statistics.variance, is_training,
                             kMomentum, kEpsilon, at::globalContext().userEnabledCuDNN());
  }

  nn::Sequential network_;
  Parameters parameters_;
  std::vector<Statistics> statistics_;
};

class MamlOmniglotWorkload final : public NetworkWorkload {
 public:
  explicit MamlOmniglotWorkload(const Setup& setup) : NetworkWorkload(setup) {
    network_ = omniglot::network(nn::BatchNormOptions(omniglot::kChannels).momentum(kMomentum));
    adopt({network_.ptr()});
    const bool is_paper = setup.preset == Preset::paper;
    tasks_ = omniglot::draw_tasks(draw(), is_paper ? omniglot::kPaper : omniglot::kSmall, device());
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(tasks_.support[0])}}; }

  torch::Tensor loss() override {
    auto sum = query_loss(0);
    for (std::int64_t i = 1; i < tasks(); ++i) sum = sum + query_loss(i);
    return sum;
  }

  /// Task after task, each with a backward of its own. The original makes a new optimiser in each
  /// step.
  void train_step() override {
    torch::optim::Adam optimizer(parameters(), torch::optim::AdamOptions(1e-3));
    optimizer.zero_grad();
    for (std::int64_t i = 0; i < tasks(); ++i) {
      const auto value = query_loss(i);
      value.backward();
      last_loss_ = value.detach();
    }
    optimizer.step();
  }

 private:
  std::int64_t tasks() const { return tasks_.support.size(0); }

  torch::Tensor query_loss(std::int64_t task) {
    TaskNetwork network(network_);
    for (int i = 0; i < omniglot::kInnerSteps; ++i) {
      const auto logits = network.forward(tasks_.support[task]);
      network.learn(torch::cross_entropy_loss(logits, tasks_.support_labels[task]));
    }
    const auto logits = network.forward(tasks_.query[task]);
    return torch::cross_entropy_loss(logits, tasks_.query_labels[task]);
  }

  nn::Sequential network_{nullptr};
  omniglot::Tasks tasks_;
};

}  // namespace maml_omniglot

TORCHWATCH_DEFINE(maml_omniglot) {
  return {.domain = "other",
          .task = "meta-learning",
          .paper = {.train = 5, .infer = 5},
          .small = {.train = 5, .infer = 5},
          .batch_rule = BatchRule::fixed,
          .cut = "2 tasks, 15 query images each",
          .build = build_as<maml_omniglot::MamlOmniglotWorkload>};
}

}  // namespace torchwatch::models
