#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "torchwatch/models/network_workload.hpp"

namespace torchwatch::models {

/// A network's forward as one graph, and what eager mode computed while it was traced.
struct Trace {
  /// Parameters and buffers are its attributes held_0, held_1, ...; every other tensor that the
  /// forward reads is an input of its method, so that nothing but weights can be computed
  /// beforehand.
  torch::jit::Module module;
  std::vector<c10::IValue> inputs;
  NamedTensors outputs;
};

/// Traces the forward, which reads those parameters and buffers; the module shares them. Throws
/// UnsupportedSetup where it cannot be traced, and where it reads values that a trace would freeze.
Trace trace_of(const std::function<NamedTensors()>& forward, const NamedTensors& held,
               std::uint64_t seed);

/// From here on the tensors are the module's own, whatever becomes of the network's.
void keep_apart(torch::jit::Module&);

/// Writes the graph and its inputs as graph.pt and inputs.pt into a folder, for a compiler. What
/// the forward changes in place is a new value in the graph, where nobody else can see the change.
void save(Trace, const std::string& folder);

/// What runs a forward in the place of operators one by one. Not thread-safe.
class CompiledForward {
 public:
  /// `outputs`: what eager mode computed, in the order in which `compute` returns its own.
  explicit CompiledForward(const NamedTensors& outputs);
  CompiledForward(const CompiledForward&) = delete;
  CompiledForward& operator=(const CompiledForward&) = delete;
  virtual ~CompiledForward() = default;

  /// Runs on the inputs of the trace. Call that of inference without gradients.
  NamedTensors run();

  /// The bytes of weights that it holds outside of LibTorch's allocators.
  virtual std::int64_t bytes_outside() const { return 0; }

 protected:
  virtual std::vector<torch::Tensor> compute() = 0;

 private:
  std::vector<std::string> names_;
};

// All throw UnsupportedSetup where the backend refuses the graph, and where what it makes of it
// computes something else: an element differs by more than 0.1 % of the largest one of its tensor
// (2 % in 16 bits).

/// The graph optimised as `torch.jit.optimize_for_inference` does it or, where that does not run,
/// frozen alone. It is run until it is optimised.
std::unique_ptr<CompiledForward> optimised_graph(Trace, std::uint64_t seed);

/// The graph of a loss, which shares its parameters and buffers with the network, and its optimiser
/// therefore with both. It is run until it is optimised, which changes buffers. Its gradients
/// differ by at most 0.1 % of their norm (2 % in 16 bits) from those of eager mode. Where the
/// executor draws the random numbers of dropout in another order, it is compared without dropout.
std::unique_ptr<CompiledForward> trained_graph(Trace, const std::vector<torch::Tensor>& parameters,
                                               std::uint64_t seed);

/// A model that AOTInductor has made of the graph. It computes with the weights of the trace,
/// whatever those were that it was made with.
std::unique_ptr<CompiledForward> packaged_model(Trace, std::uint64_t seed,
                                                const std::string& package);

}  // namespace torchwatch::models
