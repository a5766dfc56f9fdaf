#pragma once

#include <utility>
#include <vector>

#include "compiled_forward.hpp"

namespace torchwatch::models {

/// The first run of a graph records shapes, the second compiles for them; from the third on all are
/// alike.
inline constexpr int kRunsUntilOptimised = 3;

/// By how much of the largest value a compiled graph may differ from eager mode; in 16 bits.
inline constexpr double kTolerance = 1e-3;
inline constexpr double kShortTolerance = 2e-2;

bool are_close(const torch::Tensor& expected, const torch::Tensor& found);

/// A TorchScript graph, as LibTorch's executor runs it.
class Graph : public CompiledForward {
 public:
  explicit Graph(const Trace& trace)
      : CompiledForward(trace.outputs), module_(trace.module), inputs_(trace.inputs) {}

 protected:
  void use(torch::jit::Module module) { module_ = std::move(module); }

 private:
  std::vector<torch::Tensor> compute() override {
    const auto result = module_.forward(inputs_);
    std::vector<torch::Tensor> outputs;
    for (const auto& each : result.toTupleRef().elements()) outputs.push_back(each.toTensor());
    return outputs;
  }

  torch::jit::Module module_;
  std::vector<c10::IValue> inputs_;
};

}  // namespace torchwatch::models
