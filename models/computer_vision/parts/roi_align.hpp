#pragma once

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {

/// The geometry of a crop of regions of interest.
struct RoiAlignOptions {
  std::int64_t output = 7;    ///< bins in each direction
  double scale = 1.0;         ///< feature cells per pixel
  std::int64_t sampling = 0;  ///< samples a bin and direction; 0: as many as the bin has cells
  bool aligned = true;        ///< centres of cells lie at half coordinates
};

namespace roi_align_detail {

/// The samples of all regions along both axes, each a vector of length T, and the samples in each
/// bin.
struct Samples {
  torch::Tensor image, x, y, weight;
  torch::Tensor in_bin;  ///< regions x output^2
};

inline Samples samples_of(const torch::Tensor& rois, const RoiAlignOptions& options) {
  const auto output = options.output;
  const auto low = rois.slice(1, 1, 3) * options.scale - (options.aligned ? 0.5 : 0.0);
  auto size = rois.slice(1, 3, 5) * options.scale - (options.aligned ? 0.5 : 0.0) - low;
  if (!options.aligned) size = size.clamp_min(1.0);
  const auto bin = size / static_cast<double>(output);
  const auto each = options.sampling > 0 ? torch::full_like(bin, options.sampling, torch::kInt64)
                                         : bin.ceil().clamp_min(0).to(torch::kInt64);
  const auto in_bin = each.select(1, 0) * each.select(1, 1);
  const auto in_region = in_bin * (output * output);

  const auto region = torch::repeat_interleave(in_region);
  const auto first = in_region.cumsum(0) - in_region;
  auto rest = torch::arange(region.size(0), region.options()) - first.index_select(0, region);
  const auto take = [&rest](const auto& count) {
    const auto digit = rest.remainder(count);
    rest = rest.floor_divide(count);
    return digit;
  };
  const auto each_of = each.index_select(0, region);
  const auto step_x = take(each_of.select(1, 0));
  const auto step_y = take(each_of.select(1, 1));
  const auto bin_x = take(output);
  const auto bin_y = rest;
  const auto bin_of = bin.index_select(0, region);
  const auto low_of = low.index_select(0, region);
  const auto position = [&](const torch::Tensor& bins, const torch::Tensor& steps, int axis) {
    const auto width = bin_of.select(1, axis);
    return low_of.select(1, axis) + bins * width + (steps + 0.5) * width / each_of.select(1, axis);
  };
  return {.image = rois.select(1, 0).to(torch::kInt64).index_select(0, region),
          .x = position(bin_x, step_x, 0),
          .y = position(bin_y, step_y, 1),
          .weight = in_bin.clamp_min(1).to(torch::kFloat32).reciprocal().index_select(0, region),
          .in_bin = in_bin.unsqueeze(1).expand({-1, output * output})};
}

/// The two cells around each sample on one axis. A sample more than one cell outside the map is not
/// `inside` and counts nothing.
struct Neighbours {
  Neighbours(const torch::Tensor& at, std::int64_t cells)
      : inside(at.ge(-1.0).logical_and_(at.le(static_cast<double>(cells)))) {
    const auto clamped = at.clamp(0, static_cast<double>(cells - 1));
    const auto floor = clamped.floor();
    low = floor.to(torch::kInt64);
    high = (low + 1).clamp_max(cells - 1);
    part = clamped - floor;
  }

  torch::Tensor inside;
  torch::Tensor low, high;  ///< the two nearest cells
  torch::Tensor part;       ///< weight of `high`
};

}  // namespace roi_align_detail

/// Crops of `features` (B, C, H, W) for `rois` (N, 5: image, left, top, right, bottom in pixels):
/// N, C, output, output. Each bin is the mean of bilinear samples, that is a weighted sum of
/// feature cells, so one weighted embedding bag does all of it, on every device, with its gradient
/// for the features.
inline torch::Tensor roi_align(const torch::Tensor& features, const torch::Tensor& rois,
                               const RoiAlignOptions& options) {
  const auto count = rois.size(0);
  const auto channels = features.size(1);
  const auto height = features.size(2);
  const auto width = features.size(3);
  if (count == 0) {
    return torch::zeros({0, channels, options.output, options.output}, features.options());
  }
  torch::Tensor cells;
  torch::Tensor weights;
  torch::Tensor bags;
  {
    const torch::NoGradGuard no_gradients;
    const auto samples = roi_align_detail::samples_of(rois, options);
    const roi_align_detail::Neighbours x(samples.x, width);
    const roi_align_detail::Neighbours y(samples.y, height);
    const auto row = [&](const torch::Tensor& at) { return (samples.image * height + at) * width; };
    const auto above = row(y.low);
    const auto below = row(y.high);
    cells = torch::stack({above + x.low, above + x.high, below + x.low, below + x.high}, 1);
    const auto share = samples.weight * x.inside * y.inside;
    const auto upper = share * (1 - y.part);
    const auto lower = share * y.part;
    weights = torch::stack(
        {upper * (1 - x.part), upper * x.part, lower * (1 - x.part), lower * x.part}, 1);
    const auto entries = samples.in_bin.reshape(-1) * 4;
    bags = entries.cumsum(0) - entries;
  }
  constexpr std::int64_t kSum = 0;
  const auto table = features.permute({0, 2, 3, 1}).reshape({-1, channels});
  const auto bins = std::get<0>(torch::embedding_bag(
      table, cells.view(-1), bags, /*scale_grad_by_freq=*/false, kSum, /*sparse=*/false,
      weights.to(table.scalar_type()).view(-1), /*include_last_offset=*/false));
  return bins.view({count, options.output, options.output, channels})
      .permute({0, 3, 1, 2})
      .contiguous();
}

}  // namespace torchwatch::models
