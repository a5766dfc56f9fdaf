#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "boxes.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

/// A part of an image, in whole pixels.
struct Region {
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;
};

/// Samples masks (N, M, M) at the pixels of a region, each mask stretched over its box.
inline torch::Tensor stretched(const torch::Tensor& masks, const torch::Tensor& boxes,
                               const Region& region) {
  const auto along = [&boxes](std::int64_t from, std::int64_t to, std::int64_t axis) {
    const auto pixels = torch::arange(from, to, boxes.options()) + 0.5;
    const auto low = boxes.slice(1, axis, axis + 1);
    const auto high = boxes.slice(1, axis + 2, axis + 3);
    return (pixels - low) / (high - low) * 2 - 1;
  };
  const auto x = along(region.left, region.right, 0).unsqueeze(1);
  const auto y = along(region.top, region.bottom, 1).unsqueeze(2);
  const std::vector<std::int64_t> shape{boxes.size(0), y.size(1), x.size(2)};
  const auto grid = torch::stack({x.expand(shape), y.expand(shape)}, 3);
  constexpr std::int64_t kBilinear = 0;
  constexpr std::int64_t kZeros = 0;
  return torch::grid_sampler(masks.unsqueeze(1), grid, kBilinear, kZeros, /*align_corners=*/false)
      .squeeze(1);
}

/// The pixels that a box (4, on the host) touches, and one around it.
inline Region region_around(const torch::Tensor& box, const ImageSize& image) {
  const auto* side = box.data_ptr<float>();
  const auto pixel = [](float at) { return static_cast<std::int64_t>(at); };
  return {.left = std::max(pixel(std::floor(side[0])) - 1, std::int64_t{0}),
          .top = std::max(pixel(std::floor(side[1])) - 1, std::int64_t{0}),
          .right = std::min(pixel(std::ceil(side[2])) + 1, image.width),
          .bottom = std::min(pixel(std::ceil(side[3])) + 1, image.height)};
}

/// Masks (N, M, M) of probabilities as masks of the image (N, height, width), bool. On the CPU one
/// by one, only around each box; elsewhere all pixels of as many masks at once as fit into 1 GiB.
inline torch::Tensor pasted(const torch::Tensor& masks, const torch::Tensor& boxes,
                            const ImageSize& image) {
  constexpr double kThreshold = 0.5;
  auto whole =
      torch::zeros({masks.size(0), image.height, image.width}, masks.options().dtype(torch::kBool));
  const bool on_host = masks.is_cpu();
  const std::int64_t together =
      on_host ? 1 : (std::int64_t{1} << 30) / (4 * image.height * image.width);
  for (std::int64_t i = 0; i < masks.size(0); i += together) {
    const auto end = std::min(i + together, masks.size(0));
    const auto mine = boxes.slice(0, i, end);
    const auto region =
        on_host ? region_around(mine, image)
                : Region{.left = 0, .top = 0, .right = image.width, .bottom = image.height};
    whole.slice(0, i, end)
        .slice(1, region.top, region.bottom)
        .slice(2, region.left, region.right)
        .copy_(stretched(masks.slice(0, i, end), mine, region) >= kThreshold);
  }
  return whole;
}

}  // namespace torchwatch::models::detection
