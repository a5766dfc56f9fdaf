#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::models {

// The models' own vocabulary: this library depends on no type of the service.
enum class Mode { train, infer };
enum class Preset { paper, small };
enum class Device { cpu, cuda };

/// fp16 and bf16: parameters and inputs in 16 bits. amp: parameters in 32 bits, and LibTorch's
/// autocast around the whole iteration (bf16 on a CPU, fp16 on a GPU), as pytorch/benchmark has it
/// (73871abc, `--precision amp_bf16`, `amp_fp16`). tf32: a GPU may round the factors of products.
enum class Precision { fp32, tf32, fp16, bf16, amp };

/// What runs the forward: LibTorch's operators one by one as they are called, a TorchScript graph
/// that is traced from them and optimised, or, in inference, a package that AOTInductor made of
/// that graph.
enum class Backend { eager, torchscript, aot_inductor };

/// The source of parameters and inputs: random numbers of the seed, or the formula by which two
/// implementations are compared (docs/measuring.md, "Values").
enum class Fill { random, formula };

/// Everything that decides how a workload is built.
struct Setup {
  Mode mode = Mode::train;
  Preset preset = Preset::small;
  int batch = 0;  ///< 0: the preset's default
  Device device = Device::cpu;
  Precision precision = Precision::fp32;
  Backend backend = Backend::eager;
  std::string package = {};  ///< Backend::aot_inductor: the file that it made
  Fill fill = Fill::random;
  std::uint64_t seed = 1337;
  /// Mode::train: fill gradients with zeros where they are usually dropped. A workload with a step
  /// of its own throws UnsupportedSetup.
  bool zero_gradients = false;
};

/// A workload cannot be run as the setup asks; the message says why.
class UnsupportedSetup : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Counts taken from the built modules; a tied tensor counts once.
struct Census {
  std::int64_t params_trainable = 0;
  std::int64_t params_all = 0;
  int param_tensors = 0;
  std::int64_t buffers = 0;            ///< elements
  std::map<std::string, int> modules;  ///< that own parameters, by type as the original calls it
};

struct OutputFigures {
  std::string name;  ///< empty where the network has one output
  std::vector<std::int64_t> shape;
  std::string type;  ///< "float32"
  double sum = 0;
  double mean = 0;
  double std = 0;             ///< with n - 1
  std::vector<double> first;  ///< the first eight elements
};

/// The values that a network filled by the formula computes.
struct Values {
  double parameter_sum = 0;
  std::vector<OutputFigures> outputs;
  double loss = 0;           ///< Mode::train only, as gradient_norm
  double gradient_norm = 0;  ///< over all parameters
};

/// One model of the suite with its input, loss and optimiser, ready to run. Not thread-safe. Its
/// functions throw what LibTorch throws.
class Workload {
 public:
  Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  /// Makes what the setup's backend runs, from one forward; in eager mode, nothing. Call it once,
  /// before the first step. In inference, steps, outputs and values alone work after it; in
  /// training it changes no parameter and no buffer. Returns the bytes of weights that it holds
  /// outside of LibTorch's allocators. Throws UnsupportedSetup.
  virtual std::int64_t compile() { return 0; }

  /// Runs one iteration on the same inputs each time. Mode::train: gradients, forward, loss,
  /// backward, optimiser, in the original's order; Mode::infer: a forward without gradients. Does
  /// not wait for the device.
  virtual void step() = 0;

  /// Returns after how many iterations the work begins again: what one of them takes says nothing
  /// of the next.
  virtual std::int64_t period() const { return 1; }

  virtual Census census() const = 0;

  /// Returns the outputs of one forward without gradients, in evaluation mode.
  virtual std::vector<OutputFigures> outputs() = 0;

  /// Runs the forward that the published figures of the original describe, at batch 1 where the
  /// batch can be chosen, without gradients, in evaluation mode. Some originals count one of
  /// several networks, or a fixed number of proposals. Operations are counted in it.
  virtual void reference_forward() = 0;

  /// Computes the outputs in evaluation mode; in Mode::train also the loss of the training inputs
  /// and its gradients, in eager mode. No optimiser step. Compiled inference has outputs alone.
  virtual Values values() = 0;

  /// Returns the loss of the last training step; waits for the device.
  virtual double last_loss() const = 0;
};

/// Writes the graph of one forward of a network and its inputs as graph.pt and inputs.pt into a
/// folder, for a compiler. Throws UnsupportedSetup.
void export_forward(Workload&, const std::string& folder);

}  // namespace torchwatch::models
