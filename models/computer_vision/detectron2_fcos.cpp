#include <cmath>

#include "detection/anchors.hpp"
#include "detection/detection_outputs.hpp"
#include "detection/feature_pyramid.hpp"
#include "parts/nms.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace detectron2_fcos {

using namespace detection;

struct Size {
  ImageSizes image;
  int width = 64;  ///< channels of the stem
  int pyramid = 256;
};
constexpr Size kPaper{.image = kPaperImage};
constexpr Size kSmall{.image = kSmallImage, .width = 16, .pyramid = 64};
constexpr int kLevels = 5;
constexpr int kClasses = 80;

/// A batch normalisation for each level, used one after the other, and one scale and shift for all.
struct CycleBatchNormListImpl : nn::Module {
  explicit CycleBatchNormListImpl(int channels) {
    for (int i = 0; i < kLevels; ++i) {
      levels.push_back(register_module(
          std::to_string(i), nn::BatchNorm2d(nn::BatchNorm2dOptions(channels).affine(false))));
    }
    weight = register_parameter("weight", torch::ones({channels}));
    bias = register_parameter("bias", torch::zeros({channels}));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto normal = levels[turn](x);
    turn = (turn + 1) % levels.size();
    return normal * weight.view({1, -1, 1, 1}) + bias.view({1, -1, 1, 1});
  }

  std::vector<nn::BatchNorm2d> levels;
  torch::Tensor weight, bias;
  std::size_t turn = 0;
};
TORCH_MODULE(CycleBatchNormList);

nn::Conv2d head_convolution(int from, int to, double bias = 0) {
  nn::Conv2d layer(nn::Conv2dOptions(from, to, 3).padding(1));
  nn::init::normal_(layer->weight, 0, 0.01);
  nn::init::constant_(layer->bias, bias);
  return layer;
}

nn::Sequential tower(int channels) {
  nn::Sequential layers;
  for (int i = 0; i < 4; ++i) {
    layers->push_back(head_convolution(channels, channels));
    layers->push_back(CycleBatchNormList(channels));
    layers->push_back(nn::ReLU());
  }
  return layers;
}

/// Predictions of one level: classes, distances to the four sides, and centrality of each cell.
struct LevelPredictions {
  torch::Tensor logits, distances, centrality;
};

/// Two towers over each level, and three predictions of them.
struct FCOSHeadImpl : nn::Module {
  explicit FCOSHeadImpl(int channels)
      : cls_subnet(register_module("cls_subnet", tower(channels))),
        bbox_subnet(register_module("bbox_subnet", tower(channels))),
        cls_score(register_module("cls_score", head_convolution(channels, kClasses, kFirstLogit))),
        bbox_pred(register_module("bbox_pred", head_convolution(channels, 4, kReach))),
        ctrness(register_module("ctrness", head_convolution(channels, 1))) {
    prefer_some(cls_score->bias, 0);
  }

  std::vector<LevelPredictions> forward(const std::vector<torch::Tensor>& features) {
    std::vector<LevelPredictions> predictions;
    for (const auto& level : features) {
      const auto logits = cls_score(cls_subnet->forward(level));
      const auto hidden = bbox_subnet->forward(level);
      predictions.push_back({.logits = by_cell(logits),
                             .distances = by_cell(bbox_pred(hidden)),
                             .centrality = by_cell(ctrness(hidden))});
    }
    return predictions;
  }

  static torch::Tensor by_cell(const torch::Tensor& x) {
    return x.permute({0, 2, 3, 1}).reshape({x.size(0), -1, x.size(1)});
  }

  /// An object is as probable as 0.01 before training.
  static constexpr double kFirstLogit = -4.59511985013459;
  /// Cells to each side of an object. The original's 0 leaves half of the objects without area.
  static constexpr double kReach = 2;

  nn::Sequential cls_subnet, bbox_subnet;
  nn::Conv2d cls_score, bbox_pred, ctrness;
};
TORCH_MODULE(FCOSHead);

using PyramidBackboneImpl = FPNImpl<LastLevelP6P7>;
TORCH_MODULE(PyramidBackbone);

/// Boxes whose sides lie `distances` of the anchor's length away from its centre.
torch::Tensor boxes_around(const torch::Tensor& anchors, const torch::Tensor& distances) {
  const auto away = torch::relu(distances) * widths(anchors).unsqueeze(1);
  const auto centre = 0.5 * (anchors.slice(1, 0, 2) + anchors.slice(1, 2, 4));
  return torch::cat({centre - away.slice(1, 0, 2), centre + away.slice(1, 2, 4)}, 1);
}

/// Finds objects without proposals: each cell of each level predicts the object around it.
struct FCOSImpl : nn::Module {
  explicit FCOSImpl(const Size& size)
      : backbone(register_module("backbone",
                                 PyramidBackbone(ResNetShape{.width = size.width}, 1, size.pyramid,
                                                 LastLevelP6P7(size.pyramid)))),
        head(register_module("head", FCOSHead(size.pyramid))) {
    pixel_mean =
        register_buffer("pixel_mean", torch::tensor({103.53F, 116.28F, 123.675F}).view({3, 1, 1}));
    pixel_std = register_buffer("pixel_std", torch::ones({3, 1, 1}));
    const std::vector<double> strides{8, 16, 32, 64, 128};
    std::vector<std::vector<double>> sides;
    for (const double stride : strides) sides.push_back({stride});
    anchors = register_module("anchor_generator",
                              DefaultAnchorGenerator(sides, std::vector<double>{1.0}, strides));
    keep_features_even(*this);
  }

  std::vector<Detections> forward(const torch::Tensor& images) {
    const auto features = backbone((images - pixel_mean) / pixel_std);
    const auto predictions = head(features);
    const auto cells = anchors(features);
    std::vector<Detections> found;
    for (std::int64_t i = 0; i < images.size(0); ++i) found.push_back(best(predictions, cells, i));
    return found;
  }

  static Detections best(const std::vector<LevelPredictions>& predictions,
                         const std::vector<torch::Tensor>& cells, std::int64_t image) {
    constexpr double kOverlap = 0.6;
    constexpr std::int64_t kMost = 100;
    std::vector<torch::Tensor> boxes;
    std::vector<torch::Tensor> scores;
    std::vector<torch::Tensor> classes;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto level = candidates(predictions[i], cells[i], image);
      boxes.push_back(level.boxes);
      scores.push_back(level.scores);
      classes.push_back(level.classes);
    }
    const auto all_boxes = torch::cat(boxes);
    const auto all_scores = torch::cat(scores);
    const auto all_classes = torch::cat(classes);
    const auto kept = batched_nms(all_boxes, all_scores, all_classes, kOverlap).slice(0, 0, kMost);
    return {.boxes = all_boxes.index_select(0, kept),
            .scores = all_scores.index_select(0, kept),
            .classes = all_classes.index_select(0, kept)};
  }

  /// A level's thousand best pairs of a cell and a class.
  static Detections candidates(const LevelPredictions& level, const torch::Tensor& cells,
                               std::int64_t image) {
    constexpr double kScore = 0.2;
    constexpr std::int64_t kMost = 1000;
    const auto sure = (level.logits[image].sigmoid_() * level.centrality[image].sigmoid_()).sqrt();
    const auto chosen = sure > kScore;
    const auto pairs = chosen.nonzero();
    const auto [scores, order] = sure.index({chosen}).topk(std::min(pairs.size(0), kMost));
    const auto cell = pairs.select(1, 0).index_select(0, order);
    return {.boxes = boxes_around(cells.index_select(0, cell),
                                  level.distances[image].index_select(0, cell)),
            .scores = scores,
            .classes = pairs.select(1, 1).index_select(0, order)};
  }

  PyramidBackbone backbone;
  FCOSHead head;
  torch::Tensor pixel_mean, pixel_std;
  DefaultAnchorGenerator anchors{nullptr};
};
TORCH_MODULE(FCOS);

class FcosWorkload final : public NetworkWorkload {
 public:
  explicit FcosWorkload(const Setup& setup)
      : NetworkWorkload(setup),
        size_(setup.preset == Preset::paper ? kPaper : kSmall),
        network_(size_) {
    adopt({network_.ptr()});
    pixels_ = place(drawn_pixels(draw(), setup.batch, size_.image.seen));
  }

 protected:
  NamedTensors forward() override {
    NamedTensors outputs;
    const auto found = network_(pixels_);
    for (std::size_t i = 0; i < found.size(); ++i) {
      show(found[i], {}, size_.image, i, found.size(), outputs);
    }
    return outputs;
  }

  /// Never asked for: the original refuses to train.
  torch::Tensor loss() override { return {}; }

 private:
  Size size_;
  FCOS network_;
  torch::Tensor pixels_;
};

}  // namespace detectron2_fcos

TORCHWATCH_DEFINE(detectron2_fcos_r_50_fpn) {
  return {.domain = "computer vision",
          .task = "image segmentation",
          .paper = {.train = 0, .infer = 1},
          .small = {.train = 0, .infer = 1},
          .refusals = {.train = "the original raises: its library cannot train this network"},
          .runs_in_16_bits = true,
          .cut = "image 128x160, backbone and heads a quarter as wide",
          .build = build_as<detectron2_fcos::FcosWorkload>};
}

}  // namespace torchwatch::models
