#pragma once

#include "anchors.hpp"

namespace torchwatch::models::efficientdet {

/// The network's predictions, level by level.
struct Maps {
  std::vector<torch::Tensor> classes;  ///< logits (B, anchors x classes, side, side)
  std::vector<torch::Tensor> boxes;    ///< (B, anchors x 4, side, side)
};

/// Binary cross entropy of each class, weighted down where the prediction is already right.
inline torch::Tensor focal_loss(const torch::Tensor& logits, const torch::Tensor& target,
                                const torch::Tensor& positives) {
  constexpr double kAlpha = 0.25;
  constexpr double kGamma = 1.5;
  const auto chance = torch::sigmoid(logits);
  const auto others = 1.0 - target;
  const auto right = target * chance + others * (1.0 - chance);
  const auto balance = target * kAlpha + others * (1.0 - kAlpha);
  const auto focus = (1.0 - right).pow(kGamma);
  const auto entropy =
      torch::binary_cross_entropy_with_logits(logits, target, {}, {}, at::Reduction::None);
  return (1 / positives) * balance * focus * entropy;
}

/// Squares of small errors, sizes of large ones, where something is to be found.
inline torch::Tensor box_loss(const torch::Tensor& codes, const torch::Tensor& target,
                              const torch::Tensor& positives) {
  constexpr double kDelta = 0.1;
  const auto size = (codes - target).abs();
  const auto quadratic = size.clamp_max(kDelta);
  auto loss = 0.5 * quadratic.pow(2) + kDelta * (size - quadratic);
  loss *= target != 0.0;
  return loss.sum() / (positives * 4.0);
}

/// A one for the class, zeros only where nothing is.
inline torch::Tensor marks_of(const torch::Tensor& classes) {
  const auto there = (classes >= 0).unsqueeze(-1);
  auto shape = classes.sizes().vec();
  shape.push_back(kClasses);
  const auto zeros = torch::zeros(shape, classes.options());
  const auto index = (classes.unsqueeze(-1) * there).to(torch::kInt64);
  return zeros.scatter(-1, index, 1) * there;
}

inline torch::Tensor loss_of(const Maps& maps, const Labels& labels) {
  constexpr double kBoxWeight = 50.0;
  constexpr double kIgnored = -2;
  const auto positives = labels.positives.sum() + 1.0;
  std::vector<torch::Tensor> class_losses;
  std::vector<torch::Tensor> box_losses;
  for (std::size_t i = 0; i < kLevels; ++i) {
    const auto& classes = labels.classes[i];
    const auto logits = maps.classes[i].permute({0, 2, 3, 1});
    const auto target = marks_of(classes).view(logits.sizes());
    auto shape = classes.sizes().vec();
    shape.push_back(kClasses);
    const auto loss = focal_loss(logits, target, positives).view(shape);
    class_losses.push_back((loss * (classes != kIgnored).unsqueeze(-1)).sum());
    box_losses.push_back(box_loss(maps.boxes[i].permute({0, 2, 3, 1}), labels.boxes[i], positives));
  }
  const auto class_loss = torch::stack(class_losses, -1).sum(-1);
  return class_loss + kBoxWeight * torch::stack(box_losses, -1).sum(-1);
}

}  // namespace torchwatch::models::efficientdet
