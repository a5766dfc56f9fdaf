#pragma once

#include <set>
#include <string>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::timm {

/// As timm makes it: only weights of two and more dimensions decay, and of them not those named.
inline std::unique_ptr<torch::optim::Optimizer> decaying_sgd(
    const torch::nn::Module& network, const torch::optim::SGDOptions& options, double decay,
    const std::set<std::string>& undecayed = {}) {
  std::vector<torch::Tensor> still;
  std::vector<torch::Tensor> decaying;
  for (const auto& each : network.named_parameters()) {
    const bool decays = each.value().dim() > 1 && !undecayed.contains(each.key());
    (decays ? decaying : still).push_back(each.value());
  }
  using torch::optim::SGDOptions;
  auto with_decay = options;
  with_decay.weight_decay(decay);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::move(still), std::make_unique<SGDOptions>(options));
  groups.emplace_back(std::move(decaying), std::make_unique<SGDOptions>(with_decay));
  return std::make_unique<torch::optim::SGD>(std::move(groups), options);
}

}  // namespace torchwatch::models::timm
