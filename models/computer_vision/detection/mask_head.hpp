#pragma once

#include <string>
#include <vector>

#include "box_predictor.hpp"
#include "polygon_mask.hpp"
#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::detection {

/// Convolutions, an upsampling one, and a mask for each class.
struct MaskRCNNConvUpsampleHeadImpl : torch::nn::Module {
  MaskRCNNConvUpsampleHeadImpl(int from, int width, int convolutions, int classes) {
    for (int i = 0; i < convolutions; ++i) {
      layers.push_back(
          register_module("mask_fcn" + std::to_string(i + 1),
                          torch::nn::Conv2d(torch::nn::Conv2dOptions(from, width, 3).padding(1))));
      draw(layers.back()->weight, layers.back()->bias);
      from = width;
    }
    upsampling = register_module(
        "deconv",
        torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(from, width, 2).stride(2)));
    draw(upsampling->weight, upsampling->bias);
    predictor = register_module("predictor",
                                torch::nn::Conv2d(torch::nn::Conv2dOptions(width, classes, 1)));
    torch::nn::init::normal_(predictor->weight, 0, 0.001);
    torch::nn::init::zeros_(predictor->bias);
  }

  torch::Tensor forward(torch::Tensor x) {
    for (auto& layer : layers) x = torch::relu(layer(x));
    return predictor(torch::relu(upsampling(x)));
  }

  static void draw(const torch::Tensor& weight, const torch::Tensor& bias) {
    torch::nn::init::kaiming_normal_(weight, 0, torch::kFanOut, torch::kReLU);
    torch::nn::init::zeros_(bias);
  }

  std::vector<torch::nn::Conv2d> layers;
  torch::nn::ConvTranspose2d upsampling{nullptr};
  torch::nn::Conv2d predictor{nullptr};
};
TORCH_MODULE(MaskRCNNConvUpsampleHead);

/// Selects from masks for all classes (N, classes, M, M) those of `classes`.
inline torch::Tensor masks_of(const torch::Tensor& masks, const torch::Tensor& classes) {
  return masks.index({torch::arange(masks.size(0), classes.options()), classes});
}

/// The objects among an image's sampled regions.
inline SampledRegions objects_of(const SampledRegions& regions, std::int64_t background) {
  const auto found = (regions.classes != background).nonzero().squeeze(1);
  return {.boxes = regions.boxes.index_select(0, found),
          .classes = regions.classes.index_select(0, found),
          .truth = regions.truth.index_select(0, found),
          .truth_boxes = regions.truth_boxes.index_select(0, found)};
}

/// The loss between the masks of all images' objects and their outlines, which are rasterised on
/// the host.
inline torch::Tensor mask_loss(const torch::Tensor& logits,
                               const std::vector<SampledRegions>& objects,
                               const std::vector<std::vector<Polygon>>& outlines) {
  if (logits.size(0) == 0) return logits.sum() * 0;
  std::vector<torch::Tensor> classes;
  std::vector<torch::Tensor> goals;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    classes.push_back(objects[i].classes);
    goals.push_back(rasterized(outlines[i], objects[i].truth, objects[i].boxes, logits.size(2))
                        .to(logits.device()));
  }
  return torch::binary_cross_entropy_with_logits(masks_of(logits, torch::cat(classes)),
                                                 torch::cat(goals).to(torch::kFloat32));
}

}  // namespace torchwatch::models::detection
