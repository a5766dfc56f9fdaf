#include "computer_vision/parts/nms.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

using namespace torchwatch::models;

namespace {

std::vector<std::int64_t> numbers(const torch::Tensor& tensor) {
  const auto* data = tensor.data_ptr<std::int64_t>();
  return {data, data + tensor.numel()};
}

double overlap(const float* a, const float* b) {
  const double width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const double height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (width <= 0 || height <= 0) return 0;
  const auto area = [](const float* box) { return double(box[2] - box[0]) * (box[3] - box[1]); };
  return width * height / (area(a) + area(b) - width * height);
}

/// By its definition: the best of those left, then without all that it covers.
std::vector<std::int64_t> plain(const torch::Tensor& boxes, const torch::Tensor& scores,
                                const torch::Tensor& classes, double threshold) {
  std::set<std::int64_t> left;
  for (std::int64_t i = 0; i < scores.numel(); ++i) left.insert(i);
  std::vector<std::int64_t> kept;
  while (!left.empty()) {
    const auto best = *std::ranges::max_element(
        left, {}, [&scores](std::int64_t i) { return scores[i].item<float>(); });
    kept.push_back(best);
    std::erase_if(left, [&](std::int64_t i) {
      return i == best ||
             (numbers(classes)[std::size_t(i)] == numbers(classes)[std::size_t(best)] &&
              overlap(boxes[i].data_ptr<float>(), boxes[best].data_ptr<float>()) > threshold);
    });
  }
  return kept;
}

torch::Tensor drawn_boxes(std::int64_t count) {
  const auto low = torch::rand({count, 2}) * 60;
  return torch::cat({low, low + 5 + torch::rand({count, 2}) * 40}, 1);
}

}  // namespace

TEST_CASE("suppression keeps the best box of each place, best first") {
  const auto boxes =
      torch::tensor({0.F, 0.F, 10.F, 10.F, 1.F, 1.F, 11.F, 11.F, 20.F, 20.F, 30.F, 30.F})
          .view({3, 4});
  const auto scores = torch::tensor({0.5F, 0.9F, 0.6F});
  REQUIRE(numbers(nms(boxes, scores, 0.5)) == std::vector<std::int64_t>{1, 2});
  REQUIRE(numbers(nms(boxes, scores, 0.7)) == std::vector<std::int64_t>{1, 2, 0});
}

TEST_CASE("suppression is the one of its definition") {
  torch::manual_seed(1);
  const auto boxes = drawn_boxes(200);
  const auto scores = torch::rand({200});
  const auto classes = torch::randint(3, {200}, torch::kInt64);
  for (const double threshold : {0.1, 0.3, 0.5, 0.7}) {
    REQUIRE(numbers(batched_nms(boxes, scores, classes, threshold)) ==
            plain(boxes, scores, classes, threshold));
    REQUIRE(numbers(nms(boxes, scores, threshold)) ==
            plain(boxes, scores, torch::zeros({200}, torch::kInt64), threshold));
  }
}

TEST_CASE("suppression by bits, as on CUDA, is the same") {
  torch::manual_seed(2);
  const auto boxes = drawn_boxes(700);
  const nms_detail::Ranked ranked{.boxes = boxes,
                                  .classes = torch::randint(2, {700}, torch::kInt64)};
  for (const double threshold : {0.2, 0.6}) {
    REQUIRE(nms_detail::SuppressionBits(ranked, threshold).survivors() ==
            nms_detail::CandidateWalk(ranked, threshold).survivors());
  }
}

TEST_CASE("of no boxes none is kept") {
  REQUIRE(nms(torch::empty({0, 4}), torch::empty({0}), 0.5).numel() == 0);
}
