#pragma once

/// The widths and strides of MobileNetV2, for floats and for int8.
namespace torchwatch::models::mobilenet_v2 {

inline constexpr int kStem = 32;
inline constexpr int kHead = 1280;

/// Inverted residual blocks of one width.
struct Stack {
  int expansion;
  int channels;
  int blocks;
  int stride;  ///< for its first block
};
inline constexpr Stack kStacks[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                    {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

}  // namespace torchwatch::models::mobilenet_v2
