#include <cmath>

#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"
#include "yolov3/boxes.hpp"

namespace torchwatch::models {
namespace yolov3 {

namespace nn = torch::nn;
using yolov3::Darknet;
using yolov3::HeadOutput;
using yolov3::Losses;

struct Size {
  int width = 32;            ///< channels of the first layer
  std::int64_t image = 416;  ///< in training, rows and columns
  std::int64_t rows = 384;   ///< in inference
  std::int64_t columns = 512;
};
constexpr Size kPaper{};
constexpr Size kSmall{.width = 8, .image = 96, .rows = 96, .columns = 128};
constexpr std::int64_t kObjects = 8;  ///< per training image

/// A slow mean of everything that a network learns or gathers.
class MovingAverage {
 public:
  explicit MovingAverage(const nn::Module& network) {
    for (const auto& parameter : network.parameters()) follow(parameter);
    for (const auto& buffer : network.buffers()) {
      if (buffer.is_floating_point()) follow(buffer);
    }
  }

  void update() {
    const torch::NoGradGuard no_gradients;
    const double kept = 0.9999 * (1 - std::exp(-static_cast<double>(++updates_) / 2000));
    for (std::size_t i = 0; i < means_.size(); ++i) {
      means_[i] *= kept;
      means_[i] += (1 - kept) * followed_[i].detach();
    }
  }

 private:
  void follow(const torch::Tensor& tensor) {
    followed_.push_back(tensor);
    means_.push_back(tensor.detach().clone());
  }

  std::vector<torch::Tensor> followed_;
  std::vector<torch::Tensor> means_;
  std::int64_t updates_ = 0;
};

/// Each call of the original is the first iteration of its burn-in, in which biases learn fast and
/// weights not at all; the weights' decay, grown from 0, is 0 too.
std::unique_ptr<torch::optim::SGD> burning_in(const nn::Module& network) {
  std::vector<torch::Tensor> norms;
  std::vector<torch::Tensor> weights;
  std::vector<torch::Tensor> biases;
  for (const auto& each : network.named_parameters()) {
    const std::string_view name = each.key();
    auto& group = name.ends_with(".bias")           ? biases
                  : name.ends_with("Conv2d.weight") ? weights
                                                    : norms;
    group.push_back(each.value());
  }
  const auto group_of = [](std::vector<torch::Tensor> parameters, double rate) {
    return torch::optim::OptimizerParamGroup(
        std::move(parameters), std::make_unique<torch::optim::SGDOptions>(
                                   torch::optim::SGDOptions(rate).momentum(0.9).nesterov(true)));
  };
  const std::vector<torch::optim::OptimizerParamGroup> groups{
      group_of(norms, 0), group_of(weights, 0), group_of(biases, 0.1)};
  return std::make_unique<torch::optim::SGD>(
      groups, torch::optim::SGDOptions(0.01).momentum(0.9).nesterov(true));
}

class Yolov3Workload final : public NetworkWorkload {
 public:
  explicit Yolov3Workload(const Setup& setup) : NetworkWorkload(setup), batch_(setup.batch) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = Darknet(size.width);
    adopt({network_.ptr()});
    if (!is_training()) {
      images_ = place(draw().uniform({batch_, 3, size.rows, size.columns}));
      return;
    }
    pixels_ = place(draw().integers(256, {batch_, 3, size.image, size.image}).to(torch::kUInt8));
    objects_ = place(drawn_objects());
    optimizer_ = burning_in(*network_);
    average_ = std::make_unique<MovingAverage>(*network_);
  }

 protected:
  NamedTensors forward() override {
    const auto heads = network_->forward(is_training() ? scaled_pixels() : images_);
    std::vector<torch::Tensor> boxes;
    for (const auto& head : heads) boxes.push_back(head.boxes);
    const auto all = torch::cat(boxes, 1);
    detections_.clear();
    for (std::int64_t i = 0; i < batch_; ++i) {
      detections_.push_back(yolov3::detections_of(all[i]));
    }
    return {{"boxes", all},
            {"stride32", heads[0].map},
            {"stride16", heads[1].map},
            {"stride8", heads[2].map}};
  }

  /// The forward without the suppression of boxes.
  void counted_forward() override { network_->forward(images_); }

  torch::Tensor loss() override { return total_of(losses_of(network_->forward(scaled_pixels()))); }

  /// Steps and clears the gradients after it, then moves the average along. A loss that is not
  /// finite ends the original's training; it reads that, and later the loss's parts.
  void train_step() override {
    const auto losses = losses_of(network_->forward(scaled_pixels()));
    const auto value = total_of(losses);
    last_loss_ = value.detach();
    if (!torch::isfinite(value).item<bool>()) return;
    value.backward();
    optimizer_->step();
    optimizer_->zero_grad();
    average_->update();
    torch::cat({losses.box, losses.objectness, losses.label}).detach().to(torch::kCPU);
  }

 private:
  /// Image, class, centre and size as shares of the image, well inside it.
  torch::Tensor drawn_objects() {
    const auto count = batch_ * kObjects;
    const auto label = draw().integers(yolov3::kClasses, {count, 1}).to(torch::kFloat32);
    const auto centre = 0.1 + 0.8 * draw().uniform({count, 2});
    const auto size = 0.05 + 0.4 * draw().uniform({count, 2});
    const auto image = torch::arange(batch_).repeat_interleave(kObjects).unsqueeze(1);
    return torch::cat({image.to(torch::kFloat32), label, centre, size}, 1);
  }

  torch::Tensor scaled_pixels() const { return pixels_.to(torch::kFloat32) / 255.0; }

  Losses losses_of(const std::vector<HeadOutput>& outputs) {
    const auto zero = [this] { return torch::zeros({1}, torch::TensorOptions().device(device())); };
    Losses losses{zero(), zero(), zero()};
    const auto heads = network_->heads();
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const auto& map = outputs[i].map;
      yolov3::add_losses(losses, map, yolov3::targets_of(objects_, *heads[i], map));
    }
    losses.box *= 3.54;
    losses.objectness *= 64.3;
    losses.label *= 37.4;
    return losses;
  }

  /// Scaled as the share of the batch of 64 that the rates are meant for.
  torch::Tensor total_of(const Losses& losses) const {
    const auto sum = losses.box + losses.objectness + losses.label;
    return (sum * (static_cast<double>(batch_) / 64)).squeeze(0);
  }

  std::int64_t batch_;
  Darknet network_{nullptr};
  torch::Tensor images_;
  torch::Tensor pixels_;
  torch::Tensor objects_;
  std::vector<torch::Tensor> detections_;
  std::unique_ptr<MovingAverage> average_;
};

}  // namespace yolov3

TORCHWATCH_DEFINE(yolov3) {
  return {.domain = "computer vision",
          .task = "image segmentation",
          .paper = {.train = 16, .infer = 8},
          .small = {.train = 4, .infer = 4},
          .no_autocast = "its targets are written in float32 alone",
          .cut = "images 96x96 / 96x128, 8 feature maps in the first layer, batch 4",
          .build = build_as<yolov3::Yolov3Workload>};
}

}  // namespace torchwatch::models
