#include "parts/classifier.hpp"
#include "parts/layers.hpp"
#include "parts/mobilenet_v2_shape.hpp"
#include "parts/quantized_classifier.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace mobilenet_v2_quantized_qat {

namespace nn = torch::nn;

constexpr int kPaperImage = 224;
constexpr int kSmallImage = 64;
using mobilenet_v2::kHead;
using mobilenet_v2::kStacks;
using mobilenet_v2::kStem;

/// A convolution and a clamp, which share an observer.
struct UnitImpl : nn::Module {
  UnitImpl(int from, int to, int kernel, int stride = 1, int groups = 1)
      : convolution(register_module("0", qat::ConvBn2d(from, to, kernel, stride, groups))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return observer(qat::relu6_(observer(convolution(x))));
  }

  qat::ConvBn2d convolution;
  qat::FakeQuantize observer = qat::activation_observer();  ///< registered by the network
};
TORCH_MODULE(Unit);

/// Wide in the middle, where each channel has a convolution of its own; narrow and linear at both
/// ends.
struct InvertedResidualImpl : nn::Module {
  InvertedResidualImpl(int from, int to, int stride, int expansion)
      : is_residual(from == to && stride == 1), conv(register_module("conv", nn::ModuleList())) {
    const int middle = from * expansion;
    if (expansion != 1) units.emplace_back(from, middle, 1);
    units.emplace_back(middle, middle, 3, stride, middle);
    for (const auto& unit : units) conv->push_back(unit);
    last = qat::ConvBn2d(middle, to, 1);
    conv->push_back(last);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = x;
    for (auto& unit : units) y = unit(y);
    y = last_observer(last(y));
    return is_residual ? sum_observer(qat::add(x, y)) : y;
  }

  /// The observers in the order of their use, for the network to register.
  std::vector<qat::FakeQuantize> observers() const {
    std::vector<qat::FakeQuantize> all;
    for (const auto& unit : units) all.push_back(unit->observer);
    all.push_back(last_observer);
    if (is_residual) all.push_back(sum_observer);
    return all;
  }

  bool is_residual;
  nn::ModuleList conv;
  std::vector<Unit> units;
  qat::ConvBn2d last{nullptr};
  qat::FakeQuantize last_observer = qat::activation_observer();
  qat::FakeQuantize sum_observer = qat::activation_observer();
};
TORCH_MODULE(InvertedResidual);

/// MobileNetV2 with the observers of its activations. All of these are its own children, after the
/// layers of the part that they observe.
struct MobileNetV2Impl : nn::Module {
  MobileNetV2Impl() {
    observe(input_observer);
    add_features();
    register_module("classifier", classifier);
    classifier->push_back(dropout);
    classifier->push_back(linear);
    observe(dropout_observer);
    observe(output_observer);
    initialise_linear_layers(*this);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = stem(input_observer(x));
    for (auto& block : blocks) x = block(x);
    x = qat::pooled_features(head(x), head->observer);
    // Int8 tensors have no dropout, and in evaluation it does nothing.
    if (is_training()) x = dropout(x);
    return output_observer(linear(dropout_observer(x)));
  }

  Unit stem{3, kStem, 3, 2};
  std::vector<InvertedResidual> blocks;
  Unit head{nullptr};
  nn::Dropout dropout{0.2};
  qat::Linear linear{kHead, QuantizedClassifier::kClasses};
  nn::ModuleList classifier;
  qat::FakeQuantize input_observer = qat::activation_observer();
  qat::FakeQuantize dropout_observer = qat::activation_observer();
  qat::FakeQuantize output_observer = qat::activation_observer();

 private:
  void observe(const qat::FakeQuantize& observer) {
    register_module("activation_post_process_" + std::to_string(observed_++), observer);
  }

  void add_features() {
    auto features = register_module("features", nn::ModuleList(stem));
    int channels = kStem;
    for (const auto& stack : kStacks) {
      for (int i = 0; i < stack.blocks; ++i) {
        const int stride = i == 0 ? stack.stride : 1;
        blocks.emplace_back(channels, stack.channels, stride, stack.expansion);
        features->push_back(blocks.back());
        channels = stack.channels;
      }
    }
    head = Unit(channels, kHead, 1);
    features->push_back(head);

    observe(stem->observer);
    for (const auto& block : blocks) {
      for (const auto& observer : block->observers()) observe(observer);
    }
    observe(head->observer);
  }

  int observed_ = 0;
};
TORCH_MODULE(MobileNetV2);

}  // namespace mobilenet_v2_quantized_qat

TORCHWATCH_DEFINE(mobilenet_v2_quantized_qat) {
  return {
      .domain = "computer vision",
      .task = "image classification",
      .paper = {.train = 96, .infer = 96},
      .small = {.train = 4, .infer = 4},
      .refusals = {.cuda_infer = "the original's int8 network runs on a CPU only"},
      .no_autocast = "fake quantisation takes float32 alone",
      .cut = "images 64x64, batch 4",
      .build = build_fixed_classifier<QuantizedClassifier, mobilenet_v2_quantized_qat::MobileNetV2,
                                      mobilenet_v2_quantized_qat::kPaperImage,
                                      mobilenet_v2_quantized_qat::kSmallImage>};
}

}  // namespace torchwatch::models
