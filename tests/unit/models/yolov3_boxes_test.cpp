#include <catch2/catch.hpp>
#include <cmath>

#include "computer_vision/yolov3/boxes.hpp"

namespace yolov3 = torchwatch::models::yolov3;

namespace {

/// A prediction of one box: centre, size, objectness, and certainty of one class.
torch::Tensor prediction(double x, double y, double side, double objectness, std::int64_t label) {
  auto values = torch::zeros({yolov3::kBoxValues});
  values[0] = x;
  values[1] = y;
  values[2] = side;
  values[3] = side;
  values[4] = objectness;
  values[5 + label] = 1;
  return values;
}

}  // namespace

TEST_CASE("the generalised overlap of boxes in pairs") {
  const auto boxes = torch::tensor({{5., 5., 10., 10.}, {5., 5., 10., 10.}, {5., 5., 10., 10.}});
  const auto others = torch::tensor({{5., 5., 10., 10.}, {10., 5., 10., 10.}, {25., 5., 10., 10.}});
  const auto overlap =
      yolov3::generalised_overlap(yolov3::sides_of(boxes), yolov3::sides_of(others));
  // The same; half of it in common; two boxes' width of nothing between.
  CHECK(std::abs(overlap[0].item<double>() - 1) < 1e-6);
  CHECK(std::abs(overlap[1].item<double>() - 50. / 150) < 1e-6);
  CHECK(std::abs(overlap[2].item<double>() + 100. / 300) < 1e-6);
}

TEST_CASE("detections are certain, of a sensible size, and none twice") {
  const auto found = yolov3::detections_of(torch::stack({
      prediction(50, 50, 20, 0.9, 3),
      prediction(51, 50, 20, 0.6, 3),  // the same again
      prediction(51, 50, 20, 0.8, 4),  // there too, of another class
      prediction(90, 90, 20, 0.2, 3),  // not certain
      prediction(90, 90, 1, 0.9, 3),   // too small
  }));
  REQUIRE(found.sizes() == at::IntArrayRef({2, 6}));
  CHECK(found[0][5].item<double>() == 3);
  CHECK(found[1][5].item<double>() == 4);
  // Moved to the mean of both, by their scores.
  const double left = (40 * 0.9 + 41 * 0.6) / 1.5;
  CHECK(std::abs(found[0][0].item<double>() - left) < 1e-3);
}

TEST_CASE("no detections where nothing is certain") {
  CHECK_FALSE(yolov3::detections_of(torch::zeros({4, yolov3::kBoxValues})).defined());
}

TEST_CASE("an object belongs to the anchors that fit it, in the cell of its centre") {
  yolov3::YOLOLayer head(std::vector<float>{32, 32, 64, 64, 320, 320}, 32);
  const auto map = torch::zeros({2, yolov3::kAnchors, 4, 6, yolov3::kBoxValues});
  // In the second image, of class 7, at the middle of 4x6 cells, 1.5 cells wide and high.
  const auto objects = torch::tensor({{1., 7., 0.5, 0.5, 0.25, 0.375}});
  const auto targets = yolov3::targets_of(objects, *head, map);
  REQUIRE(targets.image.size(0) == 2);  // not the largest anchor
  CHECK(targets.anchor[0].item<std::int64_t>() == 0);
  CHECK(targets.anchor[1].item<std::int64_t>() == 1);
  CHECK(targets.image[0].item<std::int64_t>() == 1);
  CHECK(targets.label[0].item<std::int64_t>() == 7);
  CHECK(targets.row[0].item<std::int64_t>() == 2);
  CHECK(targets.column[0].item<std::int64_t>() == 3);
  CHECK(torch::allclose(targets.box[0], torch::tensor({0., 0., 1.5, 1.5}).to(torch::kFloat32)));
}
