#pragma once

#include <memory>

#include "torchwatch/models/torch.hpp"
#include "torchwatch/models/workload.hpp"

namespace torchwatch::models {

/// For `Definition::build`: a classifier whose network is built of the sizes of the preset.
template <typename Classifier, typename Network, const auto& Paper, const auto& Small>
std::unique_ptr<Workload> build_classifier(const Setup& setup) {
  const auto& size = setup.preset == Preset::paper ? Paper : Small;
  return std::make_unique<Classifier>(setup, torch::nn::AnyModule(Network(size)), size.image);
}

/// For `Definition::build`: a classifier whose network is the same in both presets, for images of
/// another width and height.
template <typename Classifier, typename Network, int PaperImage, int SmallImage>
std::unique_ptr<Workload> build_fixed_classifier(const Setup& setup) {
  const int image = setup.preset == Preset::paper ? PaperImage : SmallImage;
  return std::make_unique<Classifier>(setup, torch::nn::AnyModule(Network()), image);
}

}  // namespace torchwatch::models
