#pragma once

#include <array>
#include <cstdint>

/// The dimensions of EfficientDet-D1, except those of its backbone.
namespace torchwatch::models::efficientdet {

constexpr int kLevels = 5;
constexpr int kFirstLevel = 3;  ///< as often the image is halved for the finest map
constexpr int kClasses = 90;
constexpr int kAnchors = 9;  ///< at each place of a map

/// Sides of the maps, the finest first.
inline std::array<std::int64_t, kLevels> sides_of(std::int64_t image) {
  std::array<std::int64_t, kLevels> sides{};
  std::int64_t side = image;
  for (int i = 0; i < kFirstLevel + kLevels; ++i) {
    if (i >= kFirstLevel) sides[static_cast<std::size_t>(i - kFirstLevel)] = side;
    side = (side + 1) / 2;
  }
  return sides;
}

}  // namespace torchwatch::models::efficientdet
