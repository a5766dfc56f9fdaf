#include "parts/omniglot.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace maml {

namespace nn = torch::nn;
using Parameters = std::vector<torch::Tensor>;

constexpr double kInnerRate = 0.4;

struct Convolution {
  std::int64_t from, kernel, stride;
};
constexpr std::array<Convolution, 4> kConvolutions{{{1, 3, 2},
                                                    {omniglot::kChannels, 3, 2},
                                                    {omniglot::kChannels, 3, 2},
                                                    {omniglot::kChannels, 2, 1}}};

/// Four blocks of convolution, ReLU and normalisation, then a linear layer, all as a plain list of
/// parameters, so that a forward may be given others. Running statistics are parameters without
/// gradients; batches are always normalised by their own.
struct LearnerImpl : nn::Module {
  LearnerImpl()
      : vars(register_module("vars", nn::ParameterList())),
        vars_bn(register_module("vars_bn", nn::ParameterList())) {
    constexpr auto kOut = omniglot::kChannels;
    for (const auto& each : kConvolutions) {
      append_layer({kOut, each.from, each.kernel, each.kernel});
      vars->append(torch::ones({kOut}).requires_grad_());
      vars->append(torch::zeros({kOut}).requires_grad_());
      vars_bn->append(torch::zeros({kOut}));
      vars_bn->append(torch::ones({kOut}));
    }
    append_layer({omniglot::kWays, kOut});
  }

  /// Weights and biases of a convolution or a linear layer.
  void append_layer(const std::vector<std::int64_t>& shape) {
    const auto weight = torch::empty(shape);
    nn::init::kaiming_normal_(weight);
    vars->append(weight.detach().requires_grad_());
    vars->append(torch::zeros({shape.front()}).requires_grad_());
  }

  /// The parameters that learn.
  Parameters learnt() const { return vars->parameters(); }

  torch::Tensor forward(torch::Tensor x, const Parameters& given) {
    const auto statistics = vars_bn->parameters();
    const auto* p = given.data();
    for (std::size_t i = 0; i < kConvolutions.size(); ++i, p += 4) {
      const auto stride = kConvolutions[i].stride;
      x = torch::convolution(x, p[0], p[1], {stride, stride}, /*padding=*/{0, 0},
                             /*dilation=*/{1, 1}, /*transposed=*/false, /*output_padding=*/{0, 0},
                             /*groups=*/1)
              .relu_();
      x = torch::batch_norm(x, p[2], p[3], statistics[2 * i], statistics[2 * i + 1],
                            /*training=*/true, /*momentum=*/0.1, /*eps=*/1e-5,
                            at::globalContext().userEnabledCuDNN());
    }
    return torch::linear(x.view({x.size(0), -1}), p[0], p[1]);
  }

  nn::ParameterList vars, vars_bn;
};
TORCH_MODULE(Learner);

/// The original's outer module, which holds the learner.
struct MetaImpl : nn::Module {
  MetaImpl() : net(register_module("net", Learner())) {}
  Learner net;
};
TORCH_MODULE(Meta);

/// The original's "inference" is a step of meta-training: every task adapts the parameters to its
/// support images, and the losses on the query images after the last adaptation teach the first.
class MamlWorkload final : public NetworkWorkload {
 public:
  explicit MamlWorkload(const Setup& setup) : NetworkWorkload(setup) {
    adopt({meta_.ptr()});
    const bool is_paper = setup.preset == Preset::paper;
    tasks_ = omniglot::draw_tasks(draw(), is_paper ? omniglot::kPaper : omniglot::kSmall, device());
    optimizer_ =
        std::make_unique<torch::optim::Adam>(meta_->net->learnt(), torch::optim::AdamOptions(1e-3));
  }

  void iterate() override { forward(); }

 protected:
  /// The accuracies on the query images before the first and after each inner step.
  NamedTensors forward() override {
    const torch::AutoGradMode with_gradients(true);
    Progress progress;
    for (std::int64_t i = 0; i < tasks(); ++i) learn_task(i, progress);
    const auto value = progress.losses.back() / tasks();
    optimizer_->zero_grad();
    value.backward();
    optimizer_->step();
    last_loss_ = value.detach();
    return {{"", torch::tensor(progress.right) / (tasks_.query.size(1) * tasks())}};
  }

  void counted_forward() override { meta_->net->forward(tasks_.support[0], meta_->net->learnt()); }

  torch::Tensor loss() override {
    return torch::cross_entropy_loss(meta_->net->forward(tasks_.support[0], meta_->net->learnt()),
                                     tasks_.support_labels[0]);
  }

 private:
  /// Summed over tasks, before the first and after each inner step.
  struct Progress {
    std::vector<torch::Tensor> losses =
        std::vector<torch::Tensor>(omniglot::kInnerSteps + 1, torch::zeros({}));
    std::vector<std::int64_t> right = std::vector<std::int64_t>(omniglot::kInnerSteps + 1);
  };

  std::int64_t tasks() const { return tasks_.support.size(0); }

  void learn_task(std::int64_t task, Progress& progress) {
    const auto first = meta_->net->learnt();
    auto fast = adapted(task, first);
    {
      const torch::NoGradGuard no_gradients;
      judge(task, 0, first, progress);
      judge(task, 1, fast, progress);
    }
    for (std::size_t k = 2; k <= omniglot::kInnerSteps; ++k) {
      fast = adapted(task, fast);
      judge(task, k, fast, progress);
    }
  }

  /// One inner step. The gradients themselves are not differentiated.
  Parameters adapted(std::int64_t task, const Parameters& from) {
    const auto logits = meta_->net->forward(tasks_.support[task], from);
    const auto value = torch::cross_entropy_loss(logits, tasks_.support_labels[task]);
    const auto gradients = torch::autograd::grad({value}, from);
    Parameters to;
    for (std::size_t i = 0; i < from.size(); ++i) to.push_back(from[i] - kInnerRate * gradients[i]);
    return to;
  }

  /// Waits for the device, as the original does for each count.
  void judge(std::int64_t task, std::size_t step, const Parameters& given, Progress& progress) {
    const auto logits = meta_->net->forward(tasks_.query[task], given);
    const auto value = torch::cross_entropy_loss(logits, tasks_.query_labels[task]);
    progress.losses[step] = progress.losses[step] + value;
    const torch::NoGradGuard no_gradients;
    const auto guesses = torch::softmax(logits, 1).argmax(1);
    progress.right[step] += guesses.eq(tasks_.query_labels[task]).sum().item<std::int64_t>();
  }

  Meta meta_;
  omniglot::Tasks tasks_;
};

}  // namespace maml

TORCHWATCH_DEFINE(maml) {
  return {.domain = "other",
          .task = "meta-learning",
          .paper = {.infer = 1},
          .small = {.infer = 1},
          .batch_rule = BatchRule::fixed,
          .refusals = {.train = "the original raises: its inference is the training"},
          .cut = "2 tasks, 15 query images each",
          .build = build_as<maml::MamlWorkload>};
}

}  // namespace torchwatch::models
