#include <catch2/catch.hpp>

#include "computer_vision/detection/anchors.hpp"
#include "computer_vision/detection/boxes.hpp"
#include "computer_vision/detection/mask_paste.hpp"
#include "computer_vision/detection/polygon_mask.hpp"
#include "computer_vision/detection/sampling.hpp"

using namespace torchwatch::models::detection;

namespace {

torch::Tensor boxes(std::vector<float> corners) {
  return torch::tensor(corners).view({-1, 4});
}

}  // namespace

TEST_CASE("a box that is coded and decoded is the same box") {
  const BoxCoder coder({10, 10, 5, 5});
  const auto from = boxes({0, 0, 10, 20, 5, 5, 50, 40});
  const auto to = boxes({2, 1, 9, 30, 0, 0, 60, 60});
  REQUIRE(torch::allclose(coder.decode(coder.encode(from, to), from), to, 1e-5, 1e-4));
}

TEST_CASE("a decoded box grows to a thousand pixels at most") {
  const BoxCoder coder({1, 1, 1, 1});
  const auto grown = coder.decode(boxes({0, 0, 100, 0}), boxes({0, 0, 16, 16}));
  REQUIRE(widths(grown).item<float>() == Approx(1000));
  REQUIRE(heights(grown).item<float>() == Approx(16));
}

TEST_CASE("overlaps are shared areas by joint ones") {
  const auto overlap =
      overlaps(boxes({0, 0, 10, 10}), boxes({0, 0, 10, 10, 5, 0, 15, 10, 20, 0, 30, 10}));
  REQUIRE(torch::allclose(overlap, torch::tensor({1.F, 1.F / 3, 0.F}).view({1, 3})));
}

TEST_CASE("candidates match the ground truth they overlap most") {
  const auto quality = torch::tensor({0.8F, 0.2F, 0.5F, 0.1F, 0.4F, 0.6F}).view({2, 3});
  const auto matches = match(quality, {.background_below = 0.3, .found_from = 0.7});
  REQUIRE(torch::equal(matches.truth, torch::tensor({0L, 1L, 1L})));
  REQUIRE(torch::equal(matches.labels, torch::tensor({1L, -1L, -1L})));
  const auto kept = match(quality, {.background_below = 0.3, .found_from = 0.7, .keep_best = true});
  REQUIRE(torch::equal(kept.labels, torch::tensor({1L, -1L, 1L})));
}

TEST_CASE("a sample holds no more of the found ones than asked, and each candidate once") {
  torch::manual_seed(1);
  const auto labels =
      torch::cat({torch::ones({50}, torch::kInt64), torch::zeros({100}, torch::kInt64),
                  torch::full({20}, -1, torch::kInt64)});
  const auto sample = draw_sample(labels, 64, 0.25);
  REQUIRE(sample.found.size(0) == 16);
  REQUIRE(sample.background.size(0) == 48);
  REQUIRE((labels.index_select(0, sample.found) == 1).all().item<bool>());
  REQUIRE((labels.index_select(0, sample.background) == 0).all().item<bool>());
  REQUIRE(std::get<0>(at::_unique(sample.all())).size(0) == 64);
}

TEST_CASE("anchors have the area of their side and lie around their cells") {
  const auto cell = cell_anchors({32}, {0.5, 1.0, 2.0});
  REQUIRE(torch::allclose(areas(cell), torch::full({3}, 1024.F)));
  REQUIRE(torch::allclose(heights(cell) / widths(cell), torch::tensor({0.5F, 1.F, 2.F})));
  const auto all = spread(cell, 2, 3, 8, 16);
  REQUIRE(all.size(0) == 18);
  REQUIRE(torch::allclose(all[3], cell[0] + torch::tensor({16.F, 0.F, 16.F, 0.F})));
  REQUIRE(torch::allclose(all[9], cell[0] + torch::tensor({0.F, 8.F, 0.F, 8.F})));
}

TEST_CASE("a rasterised outline fills the cells whose centres it holds") {
  const Polygon triangle{{.x = 10, .y = 10}, {.x = 18, .y = 10}, {.x = 10, .y = 18}};
  const auto raster =
      rasterized({triangle}, torch::tensor({0L}), boxes({10, 10, 18, 18}), 4)[0].to(torch::kInt64);
  // The hypotenuse runs through the centres of a diagonal: its left end counts, its right does not.
  REQUIRE(torch::equal(raster.sum(1), torch::tensor({3L, 2L, 1L, 0L})));
  const auto half = rasterized({triangle}, torch::tensor({0L}), boxes({14, 10, 22, 18}), 4)[0];
  REQUIRE(half.sum().item<std::int64_t>() == 1);
}

TEST_CASE("a pasted mask covers its box and nothing else") {
  const auto whole =
      pasted(torch::ones({1, 28, 28}), boxes({2, 3, 6, 9}), {.height = 12, .width = 10});
  REQUIRE(whole.sum().item<std::int64_t>() == 24);
  REQUIRE(whole.slice(1, 3, 9).slice(2, 2, 6).all().item<bool>());
}
