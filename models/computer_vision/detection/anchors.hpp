#pragma once

#include <cmath>
#include <vector>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

/// The boxes that are guessed around a cell of a feature level: sides of squares of equal area, and
/// ratios of height to width, for each side all ratios.
inline torch::Tensor cell_anchors(const std::vector<double>& sides,
                                  const std::vector<double>& ratios) {
  std::vector<float> corners;
  for (const double side : sides) {
    for (const double ratio : ratios) {
      const double width = std::sqrt(side * side / ratio);
      const double height = ratio * width;
      for (const double corner : {-width, -height, width, height}) {
        corners.push_back(static_cast<float>(corner / 2));
      }
    }
  }
  return torch::tensor(corners).view({-1, 4});
}

/// `cell` repeated at each of height x width cells, row by row.
inline torch::Tensor spread(const torch::Tensor& cell, std::int64_t height, std::int64_t width,
                            double stride_y, double stride_x) {
  const auto y = torch::arange(height, cell.options()) * stride_y;
  const auto x = torch::arange(width, cell.options()) * stride_x;
  const auto grid = torch::meshgrid({y, x}, "ij");
  const auto shift = torch::stack({grid[1], grid[0], grid[1], grid[0]}, -1);
  return (shift.view({-1, 1, 4}) + cell).reshape({-1, 4});
}

/// Tensors that a module keeps but does not train.
struct BufferListImpl : torch::nn::Module {
  explicit BufferListImpl(const std::vector<torch::Tensor>& tensors) {
    for (const auto& tensor : tensors) register_buffer(std::to_string(buffers().size()), tensor);
  }
};
TORCH_MODULE(BufferList);

/// Anchors of each level of a feature pyramid, or of the one feature map.
struct DefaultAnchorGeneratorImpl : torch::nn::Module {
  DefaultAnchorGeneratorImpl(const std::vector<std::vector<double>>& sides,
                             const std::vector<double>& ratios, std::vector<double> strides)
      : strides_(std::move(strides)) {
    std::vector<torch::Tensor> cells;
    for (const auto& level : sides) cells.push_back(cell_anchors(level, ratios));
    cells_ = register_module("cell_anchors", BufferList(cells));
  }

  std::vector<torch::Tensor> forward(const std::vector<torch::Tensor>& features) {
    const auto cells = cells_->buffers();
    std::vector<torch::Tensor> anchors;
    for (std::size_t i = 0; i < features.size(); ++i) {
      anchors.push_back(
          spread(cells[i], features[i].size(2), features[i].size(3), strides_[i], strides_[i]));
    }
    return anchors;
  }

  std::int64_t per_cell() const { return cells_->buffers().front().size(0); }

 private:
  std::vector<double> strides_;
  BufferList cells_{nullptr};
};
TORCH_MODULE(DefaultAnchorGenerator);

}  // namespace torchwatch::models::detection
