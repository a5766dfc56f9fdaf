#include "compiled_forward.hpp"

#include <algorithm>
#include <unordered_map>

#include "graph.hpp"
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

/// Runs what was compiled with the random numbers of the trace.
void require_same(const NamedTensors& expected, std::uint64_t seed, CompiledForward& compiled) {
  torch::manual_seed(seed);
  const auto fits = [](const auto& one, const auto& other) {
    return are_close(one.second, other.second);
  };
  if (std::ranges::equal(expected, compiled.run(), fits)) return;
  throw UnsupportedSetup("its compiled graph computes other values than eager mode");
}

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

bool are_close(const torch::Tensor& expected, const torch::Tensor& found) {
  if (expected.sizes() != found.sizes() || expected.scalar_type() != found.scalar_type()) {
    return false;
  }
  if (!expected.is_floating_point() || expected.numel() == 0) return expected.equal(found);
  const auto exact = expected.to(torch::kFloat64);
  const auto other = found.to(torch::kFloat64);
  // Masked logits are infinite in both, and so may be what is not a number.
  const auto are_equal = exact.eq(other).logical_or(exact.isnan().logical_and(other.isnan()));
  const auto apart = (exact - other).abs().masked_fill(are_equal, 0).max().item<double>();
  const auto sizes = exact.abs();
  const auto size = sizes.masked_fill(sizes.isfinite().logical_not(), 0).max().item<double>();
  const bool is_short = expected.element_size() < 4;
  return apart <= (is_short ? kShortTolerance : kTolerance) * size;
}

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

std::unique_ptr<CompiledForward> packaged_model(Trace trace, std::uint64_t seed,
                                                const std::string& package) {
  // What cannot be loaded, as on a full disk, is not the workload's fault.
  keep_apart(trace.module);
  auto model = std::make_unique<PackagedModel>(trace, package);
  or_refusal("its package cannot be run", [&] { require_same(trace.outputs, seed, *model); });
  return model;
}

}  // namespace torchwatch::models
