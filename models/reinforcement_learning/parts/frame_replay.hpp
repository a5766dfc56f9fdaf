#pragma once

#include <algorithm>
#include <vector>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// Past steps seen as stacks of frames, overwritten from the oldest when full. Frames lie in plain
/// memory that grows with use, not in LibTorch's: as in the original, which keeps them elsewhere.
class FrameReplay {
 public:
  struct Step {
    torch::Tensor frames;  ///< uint8, channels x height x width, as next_frames
    float action = 0;
    float reward = 0;
    torch::Tensor next_frames;
    bool is_last = false;
  };
  /// Frames uint8 with a leading dimension of samples; the rest float32, samples x 1.
  struct Batch {
    torch::Tensor frames, action, reward, next_frames, not_last;
  };

  explicit FrameReplay(std::size_t capacity) : capacity_(capacity) {}

  void push(const Step& step) {
    Kept kept{.frames = bytes_of(step.frames),
              .next_frames = bytes_of(step.next_frames),
              .action = step.action,
              .reward = step.reward,
              .not_last = step.is_last ? 0.0F : 1.0F};
    shape_ = step.frames.sizes().vec();
    if (steps_.size() < capacity_) {
      steps_.push_back(std::move(kept));
    } else {
      steps_[oldest_] = std::move(kept);
      oldest_ = (oldest_ + 1) % capacity_;
    }
  }

  /// Drawn with replacement.
  Batch sample(std::int64_t count) const {
    const auto drawn = torch::randint(static_cast<std::int64_t>(steps_.size()), {count},
                                      torch::TensorOptions().dtype(torch::kInt64));
    std::vector<const Kept*> chosen;
    for (std::int64_t i = 0; i < count; ++i) {
      chosen.push_back(&steps_[static_cast<std::size_t>(drawn[i].item<std::int64_t>())]);
    }
    return {.frames = stack(chosen, &Kept::frames),
            .action = column(chosen, &Kept::action),
            .reward = column(chosen, &Kept::reward),
            .next_frames = stack(chosen, &Kept::next_frames),
            .not_last = column(chosen, &Kept::not_last)};
  }

 private:
  using Bytes = std::vector<std::uint8_t>;
  struct Kept {
    Bytes frames, next_frames;
    float action = 0, reward = 0, not_last = 0;
  };

  static Bytes bytes_of(const torch::Tensor& frames) {
    const auto flat = frames.contiguous();
    const auto* first = flat.data_ptr<std::uint8_t>();
    return {first, first + flat.numel()};
  }

  torch::Tensor stack(const std::vector<const Kept*>& chosen, Bytes Kept::* frames) const {
    auto shape = shape_;
    shape.insert(shape.begin(), static_cast<std::int64_t>(chosen.size()));
    auto stacked = torch::empty(shape, torch::TensorOptions().dtype(torch::kUInt8));
    auto* to = stacked.data_ptr<std::uint8_t>();
    for (const auto* each : chosen) to = std::ranges::copy(each->*frames, to).out;
    return stacked;
  }

  static torch::Tensor column(const std::vector<const Kept*>& chosen, float Kept::* number) {
    std::vector<float> numbers;
    for (const auto* each : chosen) numbers.push_back(each->*number);
    return torch::tensor(numbers).unsqueeze(1);
  }

  std::size_t capacity_;
  std::size_t oldest_ = 0;
  std::vector<std::int64_t> shape_;
  std::vector<Kept> steps_;
};

/// Each image moved by up to `reach` pixels, its border repeated: padded, then cropped at a place
/// of its own.
inline torch::Tensor randomly_shifted(const torch::Tensor& images, std::int64_t reach) {
  namespace F = torch::nn::functional;
  const auto padded =
      F::pad(images, F::PadFuncOptions({reach, reach, reach, reach}).mode(torch::kReplicate));
  const auto count = images.size(0);
  const auto corners =
      torch::randint(2 * reach + 1, {count, 2}, torch::TensorOptions().dtype(torch::kInt64));
  const auto at = corners.accessor<std::int64_t, 2>();
  auto shifted = torch::empty_like(images);
  for (std::int64_t i = 0; i < count; ++i) {
    shifted[i].copy_(
        padded[i].narrow(1, at[i][0], images.size(2)).narrow(2, at[i][1], images.size(3)));
  }
  return shifted;
}

}  // namespace torchwatch::models
