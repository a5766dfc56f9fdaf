#pragma once

#include <cmath>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models::yolov3 {

constexpr std::int64_t kClasses = 80;
constexpr std::int64_t kBoxValues = kClasses + 5;  ///< place, size, objectness, classes
constexpr std::int64_t kAnchors = 3;               ///< per head

/// The sum of the last layer's output and an earlier one's.
struct WeightedFeatureFusionImpl : torch::nn::Module {
  explicit WeightedFeatureFusionImpl(std::size_t with) : other(with) {}

  torch::Tensor forward(const torch::Tensor& x, const std::vector<torch::Tensor>& outputs) const {
    return x + outputs[other];
  }

  std::size_t other;
};
TORCH_MODULE(WeightedFeatureFusion);

/// Concatenates earlier layers' outputs by channel.
struct FeatureConcatImpl : torch::nn::Module {
  explicit FeatureConcatImpl(std::vector<std::size_t> of) : layers(std::move(of)) {}

  torch::Tensor forward(const std::vector<torch::Tensor>& outputs) const {
    if (layers.size() == 1) return outputs[layers.front()];
    std::vector<torch::Tensor> chosen;
    for (const auto layer : layers) chosen.push_back(outputs[layer]);
    return torch::cat(chosen, 1);
  }

  std::vector<std::size_t> layers;
};
TORCH_MODULE(FeatureConcat);

/// A head's prediction for each anchor and cell: the map as it is, and outside training the boxes
/// in pixels as well.
struct HeadOutput {
  torch::Tensor map;    ///< batch, anchors, rows, columns, values
  torch::Tensor boxes;  ///< batch, all of those, values
};

struct YOLOLayerImpl : torch::nn::Module {
  YOLOLayerImpl(std::vector<float> anchors_in_pixels, int pixels)
      : stride(pixels), anchors(torch::tensor(anchors_in_pixels).view({kAnchors, 2}) / pixels) {}

  HeadOutput forward(const torch::Tensor& features) {
    const auto batch = features.size(0);
    const auto rows = features.size(2);
    const auto columns = features.size(3);
    HeadOutput output;
    output.map = features.view({batch, kAnchors, kBoxValues, rows, columns})
                     .permute({0, 1, 3, 4, 2})
                     .contiguous();
    anchors = anchors.to(features.device());
    if (!is_training()) output.boxes = decoded(output.map);
    return output;
  }

  int stride;
  torch::Tensor anchors;  ///< width and height in cells

 private:
  torch::Tensor decoded(const torch::Tensor& map) {
    const auto part = [](const torch::Tensor& values, std::int64_t from, std::int64_t to) {
      return values.slice(-1, from, to);
    };
    const auto boxes = map.clone();
    part(boxes, 0, 2).copy_(torch::sigmoid(part(boxes, 0, 2)) + cells(map));
    part(boxes, 2, 4).copy_(torch::exp(part(boxes, 2, 4)) * anchors.view({1, kAnchors, 1, 1, 2}));
    part(boxes, 0, 4).mul_(stride);
    part(boxes, 4, kBoxValues).sigmoid_();
    return boxes.view({map.size(0), -1, kBoxValues});
  }

  /// The column and row of each cell, computed again only when the map's size changes.
  torch::Tensor cells(const torch::Tensor& map) {
    const auto rows = map.size(2);
    const auto columns = map.size(3);
    if (grid.defined() && grid.size(2) == rows && grid.size(3) == columns) return grid;
    const auto line = [&map](std::int64_t count) {
      return torch::arange(count, torch::TensorOptions(torch::kInt64).device(map.device()));
    };
    const auto places = torch::meshgrid({line(rows), line(columns)}, "ij");
    grid =
        torch::stack({places[1], places[0]}, 2).view({1, 1, rows, columns, 2}).to(torch::kFloat32);
    return grid;
  }

  torch::Tensor grid;
};
TORCH_MODULE(YOLOLayer);

/// YOLOv3 with spatial pyramid pooling: Darknet-53, three poolings side by side, three heads. As in
/// the original one flat list of layers, of which some take the outputs of earlier ones.
struct DarknetImpl : torch::nn::Module {
  /// `width`: channels of the first layer, 32 in the original.
  explicit DarknetImpl(int width)
      : layers(register_module("module_list", torch::nn::ModuleList())) {
    const auto backbone = push_backbone(width);
    push_pyramid(width);
    push_head({116, 90, 156, 198, 373, 326}, 32);
    push_upsampling(8 * width, backbone.at_stride_16);
    push_alternating(8 * width, 5);
    push_convolution(16 * width, 3, 1);
    push_head({30, 61, 62, 45, 59, 119}, 16);
    push_upsampling(4 * width, backbone.at_stride_8);
    push_alternating(4 * width, 5);
    push_convolution(8 * width, 3, 1);
    push_head({10, 13, 16, 30, 33, 23}, 8);
  }

  /// Returns the outputs of the three heads, the coarsest first.
  std::vector<HeadOutput> forward(torch::Tensor x) {
    std::vector<torch::Tensor> outputs(layers->size());
    std::vector<HeadOutput> heads;
    for (std::size_t i = 0; i < layers->size(); ++i) {
      if (auto* head = layers[i]->as<YOLOLayerImpl>()) {
        heads.push_back(head->forward(x));
      } else {
        x = run(*layers[i], x, outputs);
      }
      if (is_used_later[i]) outputs[i] = x;
    }
    return heads;
  }

  /// The layers that end in heads, the coarsest first.
  std::vector<YOLOLayerImpl*> heads() const {
    std::vector<YOLOLayerImpl*> all;
    for (const auto& layer : *layers) {
      if (auto* head = layer->as<YOLOLayerImpl>()) all.push_back(head);
    }
    return all;
  }

  torch::nn::ModuleList layers;

 private:
  /// The layers at which the backbone leaves its finer maps.
  struct Backbone {
    std::size_t at_stride_8 = 0;
    std::size_t at_stride_16 = 0;
  };

  static torch::Tensor run(Module& layer, const torch::Tensor& x,
                           const std::vector<torch::Tensor>& outputs) {
    namespace nn = torch::nn;
    if (auto* sequence = layer.as<nn::SequentialImpl>()) return sequence->forward(x);
    if (auto* fusion = layer.as<WeightedFeatureFusionImpl>()) return fusion->forward(x, outputs);
    if (auto* concat = layer.as<FeatureConcatImpl>()) return concat->forward(outputs);
    if (auto* pool = layer.as<nn::MaxPool2dImpl>()) return pool->forward(x);
    return layer.as<nn::UpsampleImpl>()->forward(x);
  }

  std::size_t last() const { return layers->size() - 1; }

  template <typename Layer>
  void push(const Layer& layer, int channels_out) {
    layers->push_back(layer);
    channels.push_back(channels_out);
    is_used_later.push_back(false);
  }

  void push_convolution(int to, int kernel, int stride) {
    namespace nn = torch::nn;
    const int from = channels.empty() ? 3 : channels.back();
    nn::Sequential block;
    block->push_back(
        "Conv2d",
        nn::Conv2d(
            nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false)));
    block->push_back("BatchNorm2d",
                     nn::BatchNorm2d(nn::BatchNorm2dOptions(to).momentum(0.03).eps(1e-4)));
    block->push_back("activation",
                     nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.1).inplace(true)));
    push(block, to);
  }

  void push_concat(const std::vector<std::size_t>& of) {
    int sum = 0;
    for (const auto layer : of) sum += channels[layer];
    push(FeatureConcat(of), sum);
    for (const auto layer : of) is_used_later[layer] = true;
  }

  void push_pooling(int kernel) {
    namespace nn = torch::nn;
    push(nn::MaxPool2d(nn::MaxPool2dOptions(kernel).stride(1).padding((kernel - 1) / 2)),
         channels.back());
  }

  /// A halving of the image, then residual blocks. Returns the last of its layers.
  std::size_t push_stage(int to, int blocks) {
    push_convolution(to, 3, 2);
    for (int i = 0; i < blocks; ++i) {
      const auto before = last();
      push_convolution(to / 2, 1, 1);
      push_convolution(to, 3, 1);
      push(WeightedFeatureFusion(before), to);
      is_used_later[before] = true;
    }
    return last();
  }

  Backbone push_backbone(int width) {
    push_convolution(width, 3, 1);
    push_stage(2 * width, 1);
    push_stage(4 * width, 2);
    Backbone backbone;
    backbone.at_stride_8 = push_stage(8 * width, 8);
    backbone.at_stride_16 = push_stage(16 * width, 8);
    push_stage(32 * width, 4);
    return backbone;
  }

  /// Alternates 1x1 convolutions to `narrow` channels with 3x3 ones to twice that number.
  void push_alternating(int narrow, int count) {
    for (int i = 0; i < count; ++i) {
      if (i % 2 == 0) push_convolution(narrow, 1, 1);
      if (i % 2 == 1) push_convolution(2 * narrow, 3, 1);
    }
  }

  void push_pyramid(int width) {
    push_alternating(16 * width, 3);
    const auto origin = last();
    push_pooling(5);
    const auto narrow = last();
    push_concat({origin});
    push_pooling(9);
    const auto medium = last();
    push_concat({origin});
    push_pooling(13);
    push_concat({last(), medium, narrow, origin});
    push_alternating(16 * width, 4);
  }

  /// Upsamples the last 1x1 convolution before the head by two and joins it with a finer map.
  void push_upsampling(int to, std::size_t finer) {
    namespace nn = torch::nn;
    push_concat({last() - 3});
    push_convolution(to, 1, 1);
    push(nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2})), to);
    push_concat({last(), finer});
  }

  /// At the start few cells hold an object, and no class is likelier than another.
  static void initialise_bias(torch::Tensor& bias) {
    const torch::NoGradGuard no_gradients;
    const auto values = bias.view({kAnchors, kBoxValues});
    values.select(1, 4).add_(-4.5);
    values.slice(1, 5, kBoxValues).add_(std::log(0.6 / (static_cast<double>(kClasses) - 0.99)));
  }

  void push_head(const std::vector<float>& anchors, int stride) {
    namespace nn = torch::nn;
    constexpr int kValues = static_cast<int>(kAnchors * kBoxValues);
    nn::Conv2d convolution(nn::Conv2dOptions(channels.back(), kValues, 1));
    initialise_bias(convolution->bias);
    nn::Sequential block;
    block->push_back("Conv2d", convolution);
    push(block, kValues);
    is_used_later[last()] = true;  // the original keeps it as well
    push(YOLOLayer(anchors, stride), kValues);
  }

  std::vector<int> channels;  ///< per layer
  std::vector<bool> is_used_later;
};
TORCH_MODULE(Darknet);

}  // namespace torchwatch::models::yolov3
