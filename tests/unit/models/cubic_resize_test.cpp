#include "computer_vision/dalle2/cubic_resize.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using torchwatch::models::cubic_resize;

namespace {

double keys_cubic(double x) {
  const double d = std::abs(x);
  if (d <= 1) return 1.5 * d * d * d - 2.5 * d * d + 1;
  if (d <= 2) return -0.5 * d * d * d + 2.5 * d * d - 4 * d + 2;
  return 0;
}

/// One output pixel as a sum over the whole line, each input pixel with its weight.
double pixel_of(const torch::Tensor& line, std::int64_t to, std::int64_t at) {
  const auto from = line.size(0);
  const double scale = static_cast<double>(to) / static_cast<double>(from);
  const double stretch = std::min(scale, 1.0);
  const double centre = (static_cast<double>(at) + 0.5) / scale - 0.5;
  double sum = 0;
  double weights = 0;
  for (std::int64_t i = -20; i < from + 20; ++i) {
    const double weight = keys_cubic(stretch * (centre - static_cast<double>(i)));
    weights += weight;
    if (i >= 0 && i < from) sum += weight * line[i].item<double>();
  }
  return sum / weights;
}

void check_line(std::int64_t from, std::int64_t to) {
  torch::manual_seed(7);
  const auto line = torch::randn({from});
  const auto image = line.view({1, 1, from, 1}).expand({1, 1, from, from}).contiguous();
  const auto resized = cubic_resize(image, to, to);
  REQUIRE(resized.sizes() == at::IntArrayRef({1, 1, to, to}));
  const auto middle = to / 2;
  const auto column = cubic_resize(torch::ones({1, 1, from, from}), to, to)[0][0][middle][middle];
  for (std::int64_t i = 0; i < to; ++i) {
    const double got = resized[0][0][i][middle].item<double>() / column.item<double>();
    CHECK(std::abs(got - pixel_of(line, to, i)) < 1e-5);
  }
}

}  // namespace

TEST_CASE("cubic resize weighs each line as the kernel says") {
  check_line(16, 14);
  check_line(16, 8);
  check_line(9, 18);
}

TEST_CASE("cubic resize keeps a flat image's middle and an equal size") {
  const auto flat = torch::full({2, 3, 32, 32}, 0.25);
  const auto smaller = cubic_resize(flat, 28, 28);
  CHECK(
      torch::allclose(smaller.slice(2, 4, 24).slice(3, 4, 24), torch::full({2, 3, 20, 20}, 0.25)));
  torch::manual_seed(1);
  const auto image = torch::randn({1, 3, 8, 8});
  CHECK(torch::allclose(cubic_resize(image, 8, 8), image, 1e-5, 1e-6));
}
