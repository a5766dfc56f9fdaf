#include "computer_vision/parts/text_boxes.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::models;

namespace {

constexpr std::int64_t kHigh = 60;
constexpr std::int64_t kWide = 100;

torch::Tensor empty_map() {
  return torch::zeros({kHigh, kWide});
}

/// Exclusive on the right and below.
void ink(torch::Tensor& map, std::int64_t left, std::int64_t top, std::int64_t right,
         std::int64_t bottom, double probability) {
  map.slice(0, top, bottom).slice(1, left, right).fill_(probability);
}

}  // namespace

TEST_CASE("a map without text has no boxes") {
  REQUIRE(text_boxes(empty_map()).empty());
}

TEST_CASE("a box is enlarged by its area over its circumference") {
  auto map = empty_map();
  ink(map, 20, 10, 60, 20, 0.9);
  const auto boxes = text_boxes(map);
  REQUIRE(boxes.size() == 1);
  // 40 x 10 pixels: 400 * 1.5 / 100 = 6 pixels more on each side.
  REQUIRE(boxes[0].left == Approx(14.0 / kWide));
  REQUIRE(boxes[0].top == Approx(4.0 / kHigh));
  REQUIRE(boxes[0].right == Approx(67.0 / kWide));
  REQUIRE(boxes[0].bottom == Approx(27.0 / kHigh));
  // The mean takes in one row and one column beyond the core.
  REQUIRE(boxes[0].score == Approx(0.9 * (40 * 10) / (41 * 11)));
}

TEST_CASE("a box ends at the image's edge") {
  auto map = empty_map();
  ink(map, 0, 0, kWide, kHigh, 1.0);
  const auto boxes = text_boxes(map);
  REQUIRE(boxes.size() == 1);
  REQUIRE(boxes[0].left == 0.0);
  REQUIRE(boxes[0].top == 0.0);
  REQUIRE(boxes[0].right == 1.0);
  REQUIRE(boxes[0].bottom == 1.0);
}

TEST_CASE("what is faint, thin or within a hole of another region has no box") {
  auto map = empty_map();
  ink(map, 5, 5, 95, 8, 0.2);
  ink(map, 5, 12, 95, 14, 0.9);
  REQUIRE(text_boxes(map).empty());

  ink(map, 10, 20, 90, 55, 0.9);
  ink(map, 20, 25, 80, 50, 0.0);
  ink(map, 40, 30, 60, 45, 0.9);
  REQUIRE(text_boxes(map).size() == 1);
}

TEST_CASE("regions that touch at a corner are one") {
  auto map = empty_map();
  ink(map, 10, 10, 20, 20, 0.9);
  ink(map, 20, 20, 30, 30, 0.9);
  REQUIRE(text_boxes(map).size() == 1);
  ink(map, 50, 10, 60, 20, 0.9);
  REQUIRE(text_boxes(map).size() == 2);
}
