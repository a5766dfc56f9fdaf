#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "torchwatch/models/draw.hpp"
#include "torchwatch/models/torch.hpp"
#include "torchwatch/models/workload.hpp"

namespace torchwatch::models {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;
class CompiledForward;
using Modules = std::vector<std::shared_ptr<torch::nn::Module>>;

/// The base of all workloads: it counts, moves and fills modules, and implements the usual step. A
/// derived workload builds its modules and inputs in its constructor (modules first, then `adopt`,
/// then inputs and targets from `draw`, then the optimiser) and implements forward and loss.
class NetworkWorkload : public Workload {
 public:
  std::int64_t compile() final;
  void step() final;
  Census census() const override;
  std::vector<OutputFigures> outputs() override;
  void reference_forward() override;
  Values values() override;
  double last_loss() const override;

 protected:
  explicit NetworkWorkload(const Setup&);

  /// Takes the network's modules, in the original's order: fills them by the formula if the setup
  /// asks for it, moves them to the device, sets their mode. Call once, before inputs are drawn.
  void adopt(Modules modules);

  /// Moves an input or a target to the device, and to 16 bits where the setup asks for them.
  torch::Tensor place(const torch::Tensor& tensor) const;
  Draw& draw() { return draw_; }
  torch::Device device() const { return device_; }
  bool is_training() const { return setup_.mode == Mode::train; }

  /// The distinct parameters, for the optimiser; a tied one appears once.
  std::vector<torch::Tensor> parameters() const;

  /// Returns the outputs for the inputs: one unnamed tensor, or several by name.
  virtual NamedTensors forward() = 0;
  /// The forward that `reference_forward` runs; by default `forward`.
  virtual void counted_forward() { forward(); }
  /// Mode::train only: forward on the training inputs; returns the loss.
  virtual torch::Tensor loss() = 0;
  /// Mode::train only: the loss of this iteration, for `train_step`: by a graph of `loss` where a
  /// backend has made one.
  torch::Tensor training_loss();
  /// One iteration in either mode; by default train_step, or forward without gradients.
  virtual void iterate();
  /// Mode::train only: one iteration; by default zero_grad, training_loss, backward, optimiser
  /// step.
  virtual void train_step();

  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  torch::Tensor last_loss_;  ///< detached

 private:
  friend void export_forward(Workload&, const std::string& folder);

  Setup setup_;
  torch::Device device_;
  Draw draw_;
  Modules modules_;
  bool has_cleared_as_asked_ = false;          ///< the last step was the default one
  std::shared_ptr<CompiledForward> compiled_;  ///< nobody shares it; its type is declared alone
  bool has_run_compiled_ = false;              ///< an iteration is what was compiled
};

}  // namespace torchwatch::models
