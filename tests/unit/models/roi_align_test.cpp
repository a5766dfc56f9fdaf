#include "computer_vision/parts/roi_align.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace torchwatch::models;

namespace {

/// One sample of a feature map, cell by cell.
torch::Tensor sample(const torch::Tensor& map, double y, double x) {
  const auto height = map.size(1);
  const auto width = map.size(2);
  if (y < -1 || y > double(height) || x < -1 || x > double(width)) {
    return torch::zeros({map.size(0)});
  }
  const auto split = [](double at, std::int64_t cells) {
    at = std::clamp(at, 0.0, double(cells - 1));
    const auto low = std::int64_t(std::floor(at));
    return std::tuple(low, std::min(low + 1, cells - 1), at - double(low));
  };
  const auto [top, bottom, part_y] = split(y, height);
  const auto [left, right, part_x] = split(x, width);
  const auto cell = [&map](std::int64_t row, std::int64_t column) {
    return map.select(1, row).select(1, column);
  };
  return (1 - part_y) * ((1 - part_x) * cell(top, left) + part_x * cell(top, right)) +
         part_y * ((1 - part_x) * cell(bottom, left) + part_x * cell(bottom, right));
}

/// By its definition, one bin after the other.
torch::Tensor plain(const torch::Tensor& features, const torch::Tensor& rois,
                    const RoiAlignOptions& options) {
  const auto output = options.output;
  auto crops = torch::zeros({rois.size(0), features.size(1), output, output});
  for (std::int64_t n = 0; n < rois.size(0); ++n) {
    const auto side = [&](std::int64_t i) {
      return rois[n][i].item<double>() * options.scale - (options.aligned ? 0.5 : 0.0);
    };
    const auto length = [&](double size) { return options.aligned ? size : std::max(size, 1.0); };
    const double bin_x = length(side(3) - side(1)) / double(output);
    const double bin_y = length(side(4) - side(2)) / double(output);
    const auto samples = [&](double bin) {
      return options.sampling > 0 ? options.sampling : std::int64_t(std::ceil(bin));
    };
    const auto map = features[rois[n][0].item<std::int64_t>()];
    for (std::int64_t bin = 0; bin < output * output; ++bin) {
      auto sum = torch::zeros({features.size(1)});
      for (std::int64_t i = 0; i < samples(bin_y); ++i) {
        for (std::int64_t j = 0; j < samples(bin_x); ++j) {
          sum += sample(
              map,
              side(2) + bin_y * (double(bin / output) + (double(i) + 0.5) / double(samples(bin_y))),
              side(1) +
                  bin_x * (double(bin % output) + (double(j) + 0.5) / double(samples(bin_x))));
        }
      }
      const auto count = std::max<std::int64_t>(samples(bin_y) * samples(bin_x), 1);
      crops[n].select(1, bin / output).select(1, bin % output).copy_(sum / double(count));
    }
  }
  return crops;
}

/// Regions inside, over the edge, tiny, and without area.
torch::Tensor regions() {
  return torch::tensor({0.F,  10.F, 12.F, 61.F, 47.F, 1.F,  -9.F, -7.F, 30.F,
                        25.F, 1.F,  50.F, 40.F, 90.F, 80.F, 0.F,  20.F, 20.F,
                        22.F, 21.F, 0.F,  30.F, 30.F, 30.F, 30.F})
      .view({5, 5});
}

const RoiAlignOptions kOptions[] = {
    {.output = 7, .scale = 0.25, .sampling = 0, .aligned = true},
    {.output = 3, .scale = 0.5, .sampling = 0, .aligned = true},
    {.output = 7, .scale = 0.25, .sampling = 2, .aligned = false},
    {.output = 4, .scale = 1.0, .sampling = 0, .aligned = false},
};

}  // namespace

TEST_CASE("a crop is the one of its definition") {
  torch::manual_seed(1);
  const auto features = torch::randn({2, 3, 16, 20});
  for (const auto& options : kOptions) {
    REQUIRE(torch::allclose(roi_align(features, regions(), options),
                            plain(features, regions(), options), 1e-4, 1e-5));
  }
}

TEST_CASE("the gradient of a crop is the transposed of the crop") {
  torch::manual_seed(2);
  for (const auto& options : kOptions) {
    const auto features = torch::randn({2, 3, 16, 20}).requires_grad_();
    const auto crops = roi_align(features, regions(), options);
    const auto weights = torch::randn_like(crops);
    crops.backward(weights);
    const auto other = torch::randn({2, 3, 16, 20});
    const auto forward = (plain(other, regions(), options) * weights).sum().item<double>();
    const auto backward = (other * features.grad()).sum().item<double>();
    REQUIRE(forward == Approx(backward).epsilon(1e-4));
  }
}

TEST_CASE("of no regions there are no crops") {
  const auto crops = roi_align(torch::randn({1, 5, 4, 4}), torch::empty({0, 5}), {.output = 2});
  REQUIRE(crops.sizes() == at::IntArrayRef{0, 5, 2, 2});
}
