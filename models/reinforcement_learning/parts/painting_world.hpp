#pragma once

#include <utility>

#include "painting_networks.hpp"

namespace torchwatch::models::painting {

/// The canvas after an action's strokes, one after the other; all in [0, 1].
inline torch::Tensor paint(Renderer& renderer, torch::Tensor canvas, const torch::Tensor& action) {
  const auto strokes = action.view({-1, kShape + kColour});
  const auto cover = (1 - renderer(strokes.narrow(1, 0, kShape))).view({-1, kCanvas, kCanvas, 1});
  const auto colour = cover * strokes.narrow(1, kShape, kColour).view({-1, 1, 1, kColour});
  const auto by_action = [](const torch::Tensor& stroke) {
    return stroke.permute({0, 3, 1, 2}).unflatten(0, {-1, kStrokes});
  };
  const auto covers = by_action(cover);
  const auto colours = by_action(colour);
  for (std::int64_t i = 0; i < kStrokes; ++i) {
    canvas = canvas * (1 - covers.select(1, i)) + colours.select(1, i);
  }
  return canvas;
}

/// Canvases that are painted stroke by stroke, with their subjects. An observation is uint8:
/// canvas, subject and the number of the step.
class World {
 public:
  /// The original sets 2,001 of its 200,000 pictures, repetitions of the same few, aside for tests.
  static constexpr std::int64_t kTestPictures = 2001;
  static constexpr std::int64_t kTrainingPictures = 200'000 - kTestPictures;

  World(torch::Tensor pictures, Renderer renderer, std::int64_t batch, torch::Device device)
      : pictures_(std::move(pictures)),
        renderer_(std::move(renderer)),
        batch_(batch),
        device_(device) {}

  torch::Tensor begin_training() {
    const auto drawn =
        torch::randint(kTrainingPictures, {batch_}, torch::TensorOptions().dtype(torch::kInt64));
    return begin(drawn + kTestPictures);
  }

  torch::Tensor begin_test(std::int64_t first) {
    return begin((torch::arange(batch_) + first) % kTestPictures);
  }

  struct Outcome {
    torch::Tensor observation;
    torch::Tensor reward;     ///< on the CPU: how much nearer the canvas came to its subject
    std::int64_t number = 0;  ///< steps taken
  };
  /// `action` on the CPU.
  Outcome step(const torch::Tensor& action) {
    const torch::NoGradGuard no_gradients;
    const auto painted = paint(renderer_, canvas_.to(torch::kFloat32) / 255, action.to(device_));
    canvas_ = (painted * 255).to(torch::kUInt8);
    ++step_;
    const auto observation = observe();
    const auto now = distance();
    const auto reward = (last_distance_ - now) / (first_distance_ + 1e-8);
    last_distance_ = now;
    return {observation, reward.to(torch::kCPU), step_};
  }

  /// The mean squared difference of each canvas and its subject.
  torch::Tensor distance() const {
    const auto difference = (canvas_.to(torch::kFloat32) - subject_.to(torch::kFloat32)) / 255;
    return difference.pow(2).mean(1).mean(1).mean(1);
  }

 private:
  /// Pictures are of floats in [0, 1) and subjects of bytes, so every subject is black, as in the
  /// original.
  torch::Tensor begin(const torch::Tensor& chosen) {
    const auto bytes = torch::TensorOptions().dtype(torch::kUInt8).device(device_);
    subject_ = torch::zeros({batch_, kColour, kCanvas, kCanvas}, bytes);
    for (std::int64_t i = 0; i < batch_; ++i) {
      const auto picture = pictures_[chosen[i].item<std::int64_t>() % pictures_.size(0)];
      subject_[i].copy_(picture.to(device_));
    }
    step_ = 0;
    canvas_ = torch::zeros_like(subject_);
    first_distance_ = last_distance_ = distance();
    return observe();
  }

  torch::Tensor observe() const {
    const auto bytes = torch::TensorOptions().dtype(torch::kUInt8);
    const auto time = torch::ones({batch_, 1, kCanvas, kCanvas}, bytes) * step_;
    return torch::cat({canvas_, subject_, time.to(device_)}, 1);
  }

  torch::Tensor pictures_;
  Renderer renderer_;
  std::int64_t batch_;
  torch::Device device_;
  std::int64_t step_ = 0;
  torch::Tensor canvas_, subject_, first_distance_, last_distance_;
};

}  // namespace torchwatch::models::painting
