#pragma once

#include <string>
#include <vector>

#include "box_predictor.hpp"
#include "mask_paste.hpp"
#include "torchwatch/models/network_workload.hpp"

namespace torchwatch::models::detection {

/// A detector's input and what its detections are scaled to.
struct ImageSizes {
  ImageSize seen;   ///< by the network
  ImageSize shown;  ///< the picture's own
};
/// The short side 800, from a picture of the sides that most of COCO's have.
constexpr ImageSizes kPaperImage{.seen = {.height = 800, .width = 1088},
                                 .shown = {.height = 480, .width = 640}};
constexpr ImageSizes kSmallImage{.seen = {.height = 128, .width = 160},
                                 .shown = {.height = 96, .width = 120}};

/// Images of whole numbers in 0..255, as pictures have them.
inline torch::Tensor drawn_pixels(Draw& draw, std::int64_t images, const ImageSize& size) {
  return draw.integers(256, {images, 3, size.height, size.width}).to(torch::kFloat32);
}

/// Appends the image's number where there are several images.
inline std::string name_in(const std::string& name, std::size_t image, std::size_t images) {
  return images == 1 ? name : name + "." + std::to_string(image);
}

/// Scales an image's detections to the picture and adds them to the outputs; `masks` (N, M, M) may
/// be undefined.
inline void show(const Detections& found, const torch::Tensor& masks, const ImageSizes& sizes,
                 std::size_t image, std::size_t images, NamedTensors& outputs) {
  const auto boxes = clipped(scaled(found.boxes, sizes.seen, sizes.shown), sizes.shown);
  const auto kept = larger_than(boxes, 0).nonzero().squeeze(1);
  const auto shown_boxes = boxes.index_select(0, kept);
  const auto add = [&](const char* name, const torch::Tensor& tensor) {
    outputs.emplace_back(name_in(name, image, images), tensor);
  };
  add("pred_boxes", shown_boxes);
  add("scores", found.scores.index_select(0, kept));
  add("pred_classes", found.classes.index_select(0, kept));
  if (masks.defined()) {
    add("pred_masks", pasted(masks.index_select(0, kept), shown_boxes, sizes.shown));
  }
}

}  // namespace torchwatch::models::detection
