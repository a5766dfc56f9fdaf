#include "compiled_forward.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "refusal.hpp"

// What loads packages came with 2.6.
#if __has_include(<torch/csrc/inductor/aoti_package/model_package_loader.h>)
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#define TORCHWATCH_HAS_PACKAGES 1
#else
#define TORCHWATCH_HAS_PACKAGES 0
#endif

namespace torchwatch::models {
namespace {

namespace jit = torch::jit;

/// The first run records shapes, the second compiles for them; from the third on all are alike.
constexpr int kRunsUntilOptimised = 3;

/// By how much of the largest value a compiled graph may differ from eager mode; in 16 bits.
constexpr double kTolerance = 1e-3;
constexpr double kShortTolerance = 2e-2;

bool are_close(const torch::Tensor& expected, const torch::Tensor& found) {
  if (expected.sizes() != found.sizes() || expected.scalar_type() != found.scalar_type()) {
    return false;
  }
  if (!expected.is_floating_point() || expected.numel() == 0) return expected.equal(found);
  const bool is_short = expected.element_size() < 4;
  const auto exact = expected.to(torch::kFloat64);
  const auto difference = (exact - found.to(torch::kFloat64)).abs().max().item<double>();
  const auto tolerance = is_short ? kShortTolerance : kTolerance;
  return difference <= tolerance * exact.abs().max().item<double>();
}

/// Runs what was compiled with the random numbers of the trace.
void require_same(const NamedTensors& expected, std::uint64_t seed, CompiledForward& compiled) {
  torch::manual_seed(seed);
  const auto fits = [](const auto& one, const auto& other) {
    return are_close(one.second, other.second);
  };
  if (std::ranges::equal(expected, compiled.run(), fits)) return;
  throw UnsupportedSetup("its compiled graph computes other values than eager mode");
}

class Graph : public CompiledForward {
 public:
  explicit Graph(const Trace& trace)
      : CompiledForward(trace.outputs), module_(trace.module), inputs_(trace.inputs) {}

 protected:
  void use(jit::Module module) { module_ = std::move(module); }

 private:
  std::vector<torch::Tensor> compute() override {
    const auto result = module_.forward(inputs_);
    std::vector<torch::Tensor> outputs;
    for (const auto& each : result.toTupleRef().elements()) outputs.push_back(each.toTensor());
    return outputs;
  }

  jit::Module module_;
  std::vector<c10::IValue> inputs_;
};

class OptimisedGraph final : public Graph {
 public:
  explicit OptimisedGraph(Trace& trace) : Graph(trace) {
    keep_apart(trace.module);
    try {
      use(jit::optimize_for_inference(trace.module));
      settle();
    } catch (const std::exception&) {
      // oneDNN's layout, which that chooses for convolutions, lacks some operators.
      use(jit::freeze(trace.module));
      settle();
    }
  }

 private:
  void settle() {
    for (int i = 0; i < kRunsUntilOptimised; ++i) run();
  }
};

using Gradients = std::vector<torch::Tensor>;

/// The gradients of the parameters; undefined where the loss does not depend on one.
Gradients gradients_of(const torch::Tensor& loss, const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> trained;
  std::ranges::copy_if(parameters, std::back_inserter(trained), &torch::Tensor::requires_grad);
  return torch::autograd::grad({loss}, trained, /*grad_outputs=*/{}, /*retain_graph=*/{},
                               /*create_graph=*/false, /*allow_unused=*/true);
}

torch::Tensor exact(const torch::Tensor& tensor) {
  return (tensor.is_sparse() ? tensor.to_dense() : tensor).to(torch::kFloat64);
}

/// By their norm over all parameters: the gradient of one may be nothing but rounding.
bool are_close(const Gradients& expected, const Gradients& found) {
  double norm = 0;
  double difference = 0;
  double tolerance = kTolerance;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].defined() != found[i].defined()) return false;
    if (!expected[i].defined()) continue;
    if (expected[i].element_size() < 4) tolerance = kShortTolerance;
    const auto gradient = exact(expected[i]);
    norm += gradient.square().sum().item<double>();
    difference += (gradient - exact(found[i])).square().sum().item<double>();
  }
  return std::sqrt(difference) <= tolerance * std::sqrt(norm);
}

/// Runs the graph until it is optimised, forward and backward; the last time must be as the trace.
void settle_training(const Trace& trace, const std::vector<torch::Tensor>& parameters,
                     std::uint64_t seed, CompiledForward& graph) {
  const auto& expected = trace.outputs.front().second;
  const auto expected_gradients = gradients_of(expected, parameters);
  torch::Tensor loss;
  Gradients gradients;
  for (int i = 0; i < kRunsUntilOptimised; ++i) {
    gradients.clear();
    torch::manual_seed(seed);
    loss = graph.run().front().second;
    gradients = gradients_of(loss, parameters);
  }
  const bool is_same = are_close(expected.detach(), loss.detach());
  if (is_same && are_close(expected_gradients, gradients)) return;
  throw UnsupportedSetup("its compiled graph computes another loss or gradient than eager mode");
}

#if TORCHWATCH_HAS_PACKAGES
/// A tensor that is its whole storage, as that is copied whole.
torch::Tensor alone(const torch::Tensor& tensor) {
  return tensor.nbytes() == tensor.storage().nbytes() ? tensor : tensor.clone();
}

class PackagedModel final : public CompiledForward {
 public:
  PackagedModel(const Trace& trace, const std::string& package)
      : CompiledForward(trace.outputs), loader_(package) {
    for (const auto& input : trace.inputs) inputs_.push_back(input.toTensor());
    std::unordered_map<std::string, torch::Tensor> weights;
    for (const auto& name : loader_.get_constant_fqns()) {
      // What the compiler made of numbers in the graph is not of the network.
      if (!trace.module.hasattr(name)) continue;
      const auto weight = alone(trace.module.attr(name).toTensor());
      bytes_ += static_cast<std::int64_t>(weight.nbytes());
      weights.emplace(name, weight);
    }
    if (weights.empty() && trace.module.hasattr("held_0")) {
      throw UnsupportedSetup("its package names no weights of the network");
    }
    loader_.load_constants(weights, /*use_inactive=*/false, /*check_full_update=*/false);
  }

  std::int64_t bytes_outside() const override { return bytes_; }

 private:
  std::vector<torch::Tensor> compute() override { return loader_.run(inputs_); }

  torch::inductor::AOTIModelPackageLoader loader_;
  std::vector<torch::Tensor> inputs_;
  std::int64_t bytes_ = 0;
};
#else
struct PackagedModel final : CompiledForward {
  PackagedModel(const Trace& trace, const std::string&) : CompiledForward(trace.outputs) {
    throw UnsupportedSetup("this LibTorch loads no packages");
  }
  std::vector<torch::Tensor> compute() override { return {}; }
};
#endif

}  // namespace

CompiledForward::CompiledForward(const NamedTensors& outputs) {
  for (const auto& [name, tensor] : outputs) names_.push_back(name);
}

NamedTensors CompiledForward::run() {
  NamedTensors outputs;
  auto name = names_.begin();
  for (auto& tensor : compute()) outputs.emplace_back(*name++, std::move(tensor));
  return outputs;
}

std::unique_ptr<CompiledForward> optimised_graph(Trace trace, std::uint64_t seed) {
  return or_refusal("TorchScript cannot take it", [&] {
    auto graph = std::make_unique<OptimisedGraph>(trace);
    require_same(trace.outputs, seed, *graph);
    return std::unique_ptr<CompiledForward>(std::move(graph));
  });
}

std::unique_ptr<CompiledForward> trained_graph(Trace trace,
                                               const std::vector<torch::Tensor>& parameters,
                                               std::uint64_t seed) {
  return or_refusal("TorchScript cannot take it", [&] {
    auto graph = std::make_unique<Graph>(trace);
    settle_training(trace, parameters, seed, *graph);
    return std::unique_ptr<CompiledForward>(std::move(graph));
  });
}

std::unique_ptr<CompiledForward> packaged_model(Trace trace, std::uint64_t seed,
                                                const std::string& package) {
  // What cannot be loaded, as on a full disk, is not the workload's fault.
  keep_apart(trace.module);
  auto model = std::make_unique<PackagedModel>(trace, package);
  or_refusal("its package cannot be run", [&] { require_same(trace.outputs, seed, *model); });
  return model;
}

}  // namespace torchwatch::models
