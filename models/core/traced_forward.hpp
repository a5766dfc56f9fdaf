#pragma once

#include <cstdint>
#include <functional>

#include "torchwatch/models/network_workload.hpp"

namespace torchwatch::models {

/// A network's forward as a TorchScript graph, optimised as `torch.jit.optimize_for_inference` does
/// it or, where that graph does not run, frozen alone. Parameters and buffers are constants of the
/// graph; every other tensor that the forward reads is an input, so that nothing but weights is
/// computed beforehand. Not thread-safe.
class TracedForward {
 public:
  using Forward = std::function<NamedTensors()>;

  /// Traces the forward, which reads those parameters and buffers, and runs the graph until it is
  /// optimised. Throws UnsupportedSetup where the forward cannot be traced, where it reads values
  /// that a trace would freeze, and where the graph computes something else: an element differs
  /// by more than 0.1 % of the largest one of its tensor (2 % in 16 bits).
  TracedForward(const Forward&, const NamedTensors& held, std::uint64_t seed);

  /// Runs the graph on the inputs of the trace. Call it without gradients.
  NamedTensors run();

 private:
  /// Makes the module's method and its inputs; returns what the forward computed.
  NamedTensors trace(const Forward&);
  void optimise();

  torch::jit::Module module_;
  std::vector<std::string> names_;  ///< of the outputs
  std::vector<c10::IValue> inputs_;
};

}  // namespace torchwatch::models
