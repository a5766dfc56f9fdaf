#include <torch/csrc/jit/runtime/graph_executor.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "graph.hpp"
#include "refusal.hpp"

namespace torchwatch::models {
namespace {

namespace jit = torch::jit;

/// A loss, and the gradients of the parameters; undefined where it does not depend on one.
struct Descent {
  torch::Tensor loss;
  std::vector<torch::Tensor> gradients;
};

Descent descent_of(const torch::Tensor& loss, const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> trained;
  std::ranges::copy_if(parameters, std::back_inserter(trained), &torch::Tensor::requires_grad);
  auto gradients = torch::autograd::grad({loss}, trained, /*grad_outputs=*/{}, /*retain_graph=*/{},
                                         /*create_graph=*/false, /*allow_unused=*/true);
  return {loss.detach(), std::move(gradients)};
}

torch::Tensor exact(const torch::Tensor& tensor) {
  return (tensor.is_sparse() ? tensor.to_dense() : tensor).to(torch::kFloat64);
}

/// Gradients by their norm over all parameters: that of one may be nothing but rounding.
bool are_alike(const Descent& expected, const Descent& found) {
  if (!are_close(expected.loss, found.loss)) return false;
  double norm = 0;
  double difference = 0;
  double tolerance = kTolerance;
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    const auto& one = expected.gradients[i];
    const auto& other = found.gradients[i];
    if (one.defined() != other.defined()) return false;
    if (!one.defined()) continue;
    if (one.element_size() < 4) tolerance = kShortTolerance;
    const auto gradient = exact(one);
    norm += gradient.square().sum().item<double>();
    difference += (gradient - exact(other)).square().sum().item<double>();
  }
  return std::sqrt(difference) <= tolerance * std::sqrt(norm);
}

/// Has every dropout keep all; returns whether there are any.
bool keep_all(jit::Graph& graph) {
  bool any = false;
  for (auto* node : graph.nodes()) {
    if (node->kind() != c10::aten::dropout) continue;
    const jit::WithInsertPoint guard(node);
    node->replaceInput(1, graph.insertConstant(0.0));
    any = true;
  }
  return any;
}

/// Checks the graph of a loss against what eager mode computed while it was traced.
class Check {
 public:
  Check(const Trace& trace, const std::vector<torch::Tensor>& parameters, std::uint64_t seed)
      : trace_(trace),
        parameters_(parameters),
        seed_(seed),
        expected_(descent_of(trace.outputs.front().second, parameters)) {}

  /// Runs the graph until it is optimised, forward and backward.
  bool holds(CompiledForward& graph) const {
    return are_alike(expected_, settled([&] { return graph.run().front().second; }));
  }

  /// The same where the executor draws the random numbers of dropout in another order than eager
  /// mode: operator by operator the graph computes what that does, and without dropout the
  /// optimised one what it computes operator by operator.
  bool holds_without_dropout() const {
    const auto whole = trace_.module.get_method("forward").graph();
    const auto certain = whole->copy();
    if (!keep_all(*certain)) return false;
    return are_alike(expected_, one_by_one(whole)) &&
           are_alike(one_by_one(certain), optimised(certain));
  }

 private:
  Descent descend(const std::function<torch::Tensor()>& loss) const {
    torch::manual_seed(seed_);
    return descent_of(loss(), parameters_);
  }

  Descent settled(const std::function<torch::Tensor()>& loss) const {
    Descent last;
    for (int i = 0; i < kRunsUntilOptimised; ++i) {
      last = {};
      last = descend(loss);
    }
    return last;
  }

  torch::Tensor run(jit::GraphFunction& function) const {
    jit::Stack stack{trace_.module._ivalue()};
    stack.insert(stack.end(), trace_.inputs.begin(), trace_.inputs.end());
    function.run(stack);
    return stack.front().toTupleRef().elements()[0].toTensor();
  }

  Descent one_by_one(const std::shared_ptr<jit::Graph>& graph) const {
    const jit::GraphOptimizerEnabledGuard guard(false);
    jit::GraphFunction function("one_by_one", graph->copy(), nullptr);
    return descend([&] { return run(function); });
  }

  Descent optimised(const std::shared_ptr<jit::Graph>& graph) const {
    jit::GraphFunction function("optimised", graph->copy(), nullptr);
    return settled([&] { return run(function); });
  }

  const Trace& trace_;
  const std::vector<torch::Tensor>& parameters_;
  std::uint64_t seed_;
  Descent expected_;
};

}  // namespace

std::unique_ptr<CompiledForward> trained_graph(Trace trace,
                                               const std::vector<torch::Tensor>& parameters,
                                               std::uint64_t seed) {
  return or_refusal("TorchScript cannot take it", [&] {
    auto graph = std::make_unique<Graph>(trace);
    const Check check(trace, parameters, seed);
    if (!check.holds(*graph) && !check.holds_without_dropout()) {
      throw UnsupportedSetup(
          "its compiled graph computes another loss or gradient than eager mode");
    }
    return std::unique_ptr<CompiledForward>(std::move(graph));
  });
}

}  // namespace torchwatch::models
