#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "boxes.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection::torchvision {

inline ImageSize size_of(const torch::Tensor& image) {
  return {.height = image.size(-2), .width = image.size(-1)};
}

/// Prepares pictures for the network, and brings what it finds back to their size.
class Transform {
 public:
  Transform(std::int64_t shortest_side, std::int64_t longest_side)
      : shortest_(shortest_side), longest_(longest_side) {}

  /// The size at which the network sees a picture.
  ImageSize seen(const ImageSize& picture) const {
    const auto [low, high] = std::minmax(picture.height, picture.width);
    const double scale = std::min(static_cast<double>(shortest_) / static_cast<double>(low),
                                  static_cast<double>(longest_) / static_cast<double>(high));
    const auto scaled_side = [scale](std::int64_t side) {
      return static_cast<std::int64_t>(static_cast<double>(side) * scale);
    };
    return {.height = scaled_side(picture.height), .width = scaled_side(picture.width)};
  }

  /// Normal colours, the network's size.
  torch::Tensor image(const torch::Tensor& picture) const {
    const auto colours = [&picture](std::array<float, 3> values) {
      return torch::tensor(at::ArrayRef<float>(values)).to(picture.device()).view({3, 1, 1});
    };
    const auto normal =
        (picture - colours({0.485F, 0.456F, 0.406F})) / colours({0.229F, 0.224F, 0.225F});
    const auto size = seen(size_of(picture));
    return torch::upsample_bilinear2d(normal.unsqueeze(0), {size.height, size.width},
                                      /*align_corners=*/false)
        .squeeze(0);
  }

  /// Masks (N, height, width) at the network's size.
  torch::Tensor masks(const torch::Tensor& of_picture) const {
    const auto size = seen(size_of(of_picture));
    return torch::upsample_nearest2d(of_picture.unsqueeze(1).to(torch::kFloat32),
                                     {size.height, size.width})
        .squeeze(1)
        .to(torch::kUInt8);
  }

  /// One batch, filled up with zeros to a multiple of 32 pixels.
  static torch::Tensor batch(const std::vector<torch::Tensor>& images) {
    ImageSize largest;
    for (const auto& image : images) {
      largest.height = std::max(largest.height, image.size(1));
      largest.width = std::max(largest.width, image.size(2));
    }
    const auto whole = [](std::int64_t side) { return (side + 31) / 32 * 32; };
    auto padded = torch::zeros(
        {static_cast<std::int64_t>(images.size()), 3, whole(largest.height), whole(largest.width)},
        images.front().options());
    for (std::size_t i = 0; i < images.size(); ++i) {
      padded[static_cast<std::int64_t>(i)]
          .slice(1, 0, images[i].size(1))
          .slice(2, 0, images[i].size(2))
          .copy_(images[i]);
    }
    return padded;
  }

 private:
  std::int64_t shortest_;
  std::int64_t longest_;
};

/// One mask (M, M) in the picture; `box` holds whole pixels, both ends included.
inline torch::Tensor pasted_one(const torch::Tensor& mask, const std::int64_t* box,
                                const ImageSize& picture) {
  const auto width = std::max(box[2] - box[0] + 1, std::int64_t{1});
  const auto height = std::max(box[3] - box[1] + 1, std::int64_t{1});
  const auto stretched =
      torch::upsample_bilinear2d(mask.view({1, 1, mask.size(0), mask.size(1)}), {height, width},
                                 /*align_corners=*/false)[0][0];
  const auto left = std::max(box[0], std::int64_t{0});
  const auto top = std::max(box[1], std::int64_t{0});
  const auto right = std::min(box[2] + 1, picture.width);
  const auto bottom = std::min(box[3] + 1, picture.height);
  auto whole = torch::zeros({picture.height, picture.width}, mask.options());
  whole.slice(0, top, bottom)
      .slice(1, left, right)
      .copy_(stretched.slice(0, top - box[1], bottom - box[1])
                 .slice(1, left - box[0], right - box[0]));
  return whole;
}

/// Masks (N, 1, M, M) of probabilities in the picture: N, 1, height, width. Each mask gets a rim of
/// zeros, and its box grows with it.
inline torch::Tensor pasted_soft(const torch::Tensor& masks, const torch::Tensor& boxes,
                                 const ImageSize& picture) {
  if (masks.size(0) == 0) {
    return torch::zeros({0, 1, picture.height, picture.width}, masks.options());
  }
  const auto rimmed = torch::constant_pad_nd(masks, {1, 1, 1, 1});
  const double growth = static_cast<double>(rimmed.size(-1)) / static_cast<double>(masks.size(-1));
  const auto half = torch::stack({widths(boxes), heights(boxes)}, 1) * (0.5 * growth);
  const auto centre = 0.5 * (boxes.slice(1, 0, 2) + boxes.slice(1, 2, 4));
  const auto grown =
      torch::cat({centre - half, centre + half}, 1).to(torch::kInt64).to(torch::kCPU).contiguous();
  std::vector<torch::Tensor> whole;
  const auto* box = grown.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < masks.size(0); ++i, box += 4) {
    whole.push_back(pasted_one(rimmed[i][0], box, picture));
  }
  return torch::stack(whole).unsqueeze(1);
}

}  // namespace torchwatch::models::detection::torchvision
