#include "parts/omniglot.hpp"
#include "parts/shared_weights.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace functorch_maml_omniglot {

using Parameters = std::vector<torch::Tensor>;

/// `shared` while the tasks' parameters are those they began with.
enum class Weights { shared, own };

/// All tasks at once: parameters have a leading dimension of tasks, and images stand as
/// samples x (tasks and channels) x height x width.
torch::Tensor convolve(const torch::Tensor& x, const torch::Tensor& weights,
                       const torch::Tensor& biases, Weights kind) {
  const auto tasks = weights.size(0);
  if (kind == Weights::own) {
    const auto y = torch::convolution(x, weights.flatten(0, 1), {}, /*stride=*/{1, 1},
                                      /*padding=*/{0, 0}, /*dilation=*/{1, 1},
                                      /*transposed=*/false, /*output_padding=*/{0, 0}, tasks);
    return y + biases.reshape({1, -1, 1, 1});
  }
  const auto rows = x.unflatten(1, {tasks, -1}).flatten(0, 1);
  const auto y = SharedConvolution::apply(rows, weights, biases, 1, 0);
  return y.unflatten(0, {-1, tasks}).flatten(1, 2);
}

torch::Tensor normalise(const torch::Tensor& x, const torch::Tensor& weights,
                        const torch::Tensor& biases) {
  const auto normal = torch::batch_norm(x, {}, {}, {}, {}, /*training=*/true, /*momentum=*/0.1,
                                        /*eps=*/1e-5, at::globalContext().userEnabledCuDNN());
  return normal * weights.reshape({1, -1, 1, 1}) + biases.reshape({1, -1, 1, 1});
}

/// `x`: samples x tasks x features.
torch::Tensor connect(const torch::Tensor& x, const torch::Tensor& weights,
                      const torch::Tensor& biases, Weights kind) {
  if (kind == Weights::own) {
    const auto by_task =
        torch::baddbmm(biases.unsqueeze(1), x.transpose(0, 1), weights.transpose(1, 2));
    return by_task.transpose(0, 1);
  }
  const auto rows = SharedLinear::apply(x.flatten(0, 1), weights, biases);
  return rows.unflatten(0, {-1, weights.size(0)});
}

/// `images`: tasks x samples x 1 x height x width. Gives samples x tasks x ways.
torch::Tensor answers(const torch::Tensor& images, const Parameters& p, Weights kind) {
  auto x = images.transpose(0, 1).flatten(1, 2);
  for (std::size_t i = 0; i < omniglot::kBlocks; ++i) {
    const auto* block = &p[i * omniglot::kBlockParameters];
    x = normalise(convolve(x, block[0], block[1], kind), block[2], block[3]);
    x = torch::max_pool2d(x.relu_(), 2, 2);
  }
  x = x.flatten(1).unflatten(1, {images.size(0), -1});
  const auto* last = &p[omniglot::kBlocks * omniglot::kBlockParameters];
  return connect(x, last[0], last[1], kind);
}

/// The loss of each task.
torch::Tensor losses(const torch::Tensor& logits, const torch::Tensor& labels) {
  const auto expected = labels.transpose(0, 1);
  const auto each =
      torch::cross_entropy_loss(logits.flatten(0, 1), expected.flatten(), {}, at::Reduction::None);
  return each.view(expected.sizes()).mean(0);
}

class FunctorchMamlOmniglotWorkload final : public NetworkWorkload {
 public:
  explicit FunctorchMamlOmniglotWorkload(const Setup& setup) : NetworkWorkload(setup) {
    network_ = omniglot::network(
        torch::nn::BatchNormOptions(omniglot::kChannels).track_running_stats(false));
    adopt({network_.ptr()});
    const bool is_paper = setup.preset == Preset::paper;
    tasks_ = omniglot::draw_tasks(draw(), is_paper ? omniglot::kPaper : omniglot::kSmall, device());
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(tasks_.support[0])}}; }
  torch::Tensor loss() override { return query_losses(parameters()).sum(); }

  /// The original makes a function of the network in each step, which copies its parameters, and
  /// updates the copies only, by an optimiser made for the step: every step begins alike.
  void train_step() override {
    Parameters copies;
    for (const auto& each : parameters()) copies.push_back(each.detach().clone().requires_grad_());
    torch::optim::Adam optimizer(copies, torch::optim::AdamOptions(1e-3));
    optimizer.zero_grad();
    const auto value = query_losses(copies).sum();
    value.backward();
    optimizer.step();
    last_loss_ = value.detach();
  }

 private:
  torch::Tensor query_losses(const Parameters& parameters) {
    const auto logits = answers(tasks_.query, adapted(parameters), Weights::own);
    const auto right = logits.argmax(-1).eq(tasks_.query_labels.transpose(0, 1));
    query_accuracies_ = right.sum(0) / tasks_.query.size(1);
    return losses(logits, tasks_.query_labels);
  }

  /// Each task's parameters after some steps on its support images, differentiable by the first.
  Parameters adapted(const Parameters& first) const {
    Parameters own;
    for (const auto& each : first) {
      auto shape = each.sizes().vec();
      shape.insert(shape.begin(), tasks_.support.size(0));
      own.push_back(each.expand(shape));
    }
    for (int i = 0; i < omniglot::kInnerSteps; ++i) {
      const auto kind = i == 0 ? Weights::shared : Weights::own;
      const auto value = losses(answers(tasks_.support, own, kind), tasks_.support_labels).sum();
      const auto gradients = torch::autograd::grad({value}, own, {}, /*retain_graph=*/std::nullopt,
                                                   /*create_graph=*/true);
      for (std::size_t k = 0; k < own.size(); ++k) own[k] = own[k] - gradients[k] * kInnerRate;
    }
    return own;
  }

  static constexpr double kInnerRate = 0.1;

  torch::nn::Sequential network_{nullptr};
  omniglot::Tasks tasks_;
  torch::Tensor query_accuracies_;
};

}  // namespace functorch_maml_omniglot

TORCHWATCH_DEFINE(functorch_maml_omniglot) {
  return {.domain = "other",
          .task = "meta-learning",
          .paper = {.train = 1, .infer = 1},
          .small = {.train = 1, .infer = 1},
          .batch_rule = BatchRule::fixed,
          .no_autocast = "oneDNN has no 16-bit convolution with that number of groups",
          .cut = "2 tasks, 15 query images each",
          .build = build_as<functorch_maml_omniglot::FunctorchMamlOmniglotWorkload>};
}

}  // namespace torchwatch::models
