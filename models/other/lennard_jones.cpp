#include <cmath>

#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace lennard_jones {

namespace nn = torch::nn;

constexpr double kSigma = 0.5;
constexpr double kEpsilon = 4.0;
constexpr int kHiddenLayers = 4;
constexpr std::int64_t kWidth = 16;

nn::Sequential potential() {
  nn::Sequential layers;
  for (int i = 0; i < kHiddenLayers; ++i) {
    layers->push_back(nn::Linear(i == 0 ? 1 : kWidth, kWidth));
    layers->push_back(nn::Tanh());
  }
  layers->push_back(nn::Linear(kWidth, 1));
  return layers;
}

/// The true potential at the distances `r`, and the size of its force.
torch::Tensor true_energy(const torch::Tensor& r) {
  return kEpsilon * ((kSigma / r).pow(12) - (kSigma / r).pow(6));
}

torch::Tensor true_force(const torch::Tensor& r) {
  const double sigma6 = std::pow(kSigma, 6);
  return -kEpsilon * (-12 * sigma6 * sigma6 / r.pow(13) + 6 * sigma6 / r.pow(7));
}

struct Prediction {
  torch::Tensor energies;
  torch::Tensor forces;
};

/// A network that learns the potential between two particles from energies and forces.
class LennardJonesWorkload final : public NetworkWorkload {
 public:
  explicit LennardJonesWorkload(const Setup& setup)
      : NetworkWorkload(setup), network_(potential()) {
    adopt({network_.ptr()});
    // The original's positions are not random: they lie on the x axis.
    const auto distances = torch::linspace(0.5, 2 * kSigma, setup.batch);
    displacements_ = place(torch::outer(distances, torch::tensor({1.0F, 0.0F, 0.0F})));
    if (!is_training()) return;
    const auto norms = distances_of(displacements_);
    energies_ = true_energy(norms);
    forces_ = true_force(norms) * displacements_;  // not of length one, as in the original
    optimizer_ =
        std::make_unique<torch::optim::Adam>(parameters(), torch::optim::AdamOptions(1e-3));
  }

 protected:
  NamedTensors forward() override {
    const auto prediction = predict();
    return {{"energies", prediction.energies}, {"forces", prediction.forces}};
  }

  void counted_forward() override { network_->forward(distances_of(displacements_)); }

  torch::Tensor loss() override {
    const auto prediction = predict();
    return torch::mse_loss(energies_, prediction.energies) +
           0.01 * torch::mse_loss(forces_, prediction.forces) / 3;
  }

 private:
  static torch::Tensor distances_of(const torch::Tensor& displacements) {
    return torch::linalg_norm(displacements, std::nullopt, {1}).reshape({-1, 1});
  }

  Prediction predict() {
    const auto distances = distances_of(displacements_);
    const auto energies = network_->forward(distances);
    return {energies, -slope_at(distances) * displacements_ / distances};
  }

  /// The network's derivative for each sample, by a forward of its own as in the original. A
  /// sample's energy depends on its distance only, so one backward with ones gives the whole
  /// Jacobian.
  torch::Tensor slope_at(const torch::Tensor& distances) {
    const bool is_learning = at::GradMode::is_enabled();
    const torch::AutoGradMode gradients(true);
    const auto points = distances.detach().requires_grad_();
    const auto energies = network_->forward(points);
    const auto slopes = torch::autograd::grad({energies}, {points}, {torch::ones_like(energies)},
                                              /*retain_graph=*/is_learning,
                                              /*create_graph=*/is_learning);
    return slopes.front();
  }

  nn::Sequential network_;
  torch::Tensor displacements_;
  torch::Tensor energies_;
  torch::Tensor forces_;
};

}  // namespace lennard_jones

TORCHWATCH_DEFINE(lennard_jones) {
  return {.domain = "other",
          .task = "molecular potential",
          .paper = {.train = 1000, .infer = 1000},
          .small = {.train = 1000, .infer = 1000},
          .build = build_as<lennard_jones::LennardJonesWorkload>};
}

}  // namespace torchwatch::models
