#include "parts/classifier.hpp"
#include "parts/quantized_classifier.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace resnet50_quantized_qat {

namespace nn = torch::nn;

struct Size {
  int width = 64;  ///< channels of the first stage; each stage doubles them
  int image = 224;
};
constexpr Size kPaper{};
constexpr Size kSmall{.width = 32, .image = 64};
constexpr std::array<int, 4> kBlocks = {3, 4, 6, 3};  ///< in each stage
constexpr int kExpansion = 4;                         ///< output channels for each of a stage's

/// Three convolutions, 1x1, 3x3 and 1x1, and a shortcut. A rectifier is part of the first two and
/// of the sum, so that neither the last convolution nor the sum is rounded twice.
struct BottleneckImpl : nn::Module {
  BottleneckImpl(int from, int width, int stride)
      : conv1(register_module("conv1", qat::ConvBnReLU2d(from, width, 1))),
        conv2(register_module("conv2", qat::ConvBnReLU2d(width, width, 3, stride))),
        conv3(register_module("conv3", qat::ConvBn2d(width, width * kExpansion, 1))) {
    if (stride == 1 && from == width * kExpansion) return;
    downsample = qat::ConvBn2d(from, width * kExpansion, 1, stride);
    register_module("downsample", nn::ModuleList(downsample));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = observer1(conv1(x));
    y = observer2(conv2(y));
    y = observer3(conv3(y));
    const auto shortcut = downsample ? shortcut_observer(downsample(x)) : x;
    return sum_observer(qat::add_relu(y, shortcut));
  }

  /// The observers in the order of their use, for the network to register.
  std::vector<qat::FakeQuantize> observers() const {
    std::vector<qat::FakeQuantize> all{observer1, observer2, observer3};
    if (downsample) all.push_back(shortcut_observer);
    all.push_back(sum_observer);
    return all;
  }

  qat::ConvBnReLU2d conv1;
  qat::ConvBnReLU2d conv2;
  qat::ConvBn2d conv3;
  qat::ConvBn2d downsample{nullptr};
  qat::FakeQuantize observer1 = qat::activation_observer();
  qat::FakeQuantize observer2 = qat::activation_observer();
  qat::FakeQuantize observer3 = qat::activation_observer();
  qat::FakeQuantize shortcut_observer = qat::activation_observer();
  qat::FakeQuantize sum_observer = qat::activation_observer();
};
TORCH_MODULE(Bottleneck);

/// ResNet-50 with the observers of its activations. All of these are its own children, after the
/// layers of the stage that they observe.
struct ResNet50Impl : nn::Module {
  explicit ResNet50Impl(const Size& size) : conv1(3, size.width, 7, 2) {
    observe(input_observer);
    register_module("conv1", conv1);
    observe(stem_observer);
    int channels = size.width;
    for (std::size_t i = 0; i < kBlocks.size(); ++i) {
      const int width = size.width << i;
      add_stage("layer" + std::to_string(i + 1), kBlocks[i], channels, width, i == 0 ? 1 : 2);
      channels = width * kExpansion;
    }
    fc = register_module("fc", qat::Linear(channels, QuantizedClassifier::kClasses));
    observe(output_observer);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = stem_observer(conv1(input_observer(x)));
    x = stem_observer(torch::max_pool2d(x, {3, 3}, {2, 2}, {1, 1}, {1, 1}));
    for (auto& block : blocks) x = block(x);
    x = qat::pooled_features(x, blocks.back()->sum_observer);
    return output_observer(fc(x));
  }

  qat::ConvBnReLU2d conv1;
  std::vector<Bottleneck> blocks;
  qat::Linear fc{nullptr};
  qat::FakeQuantize input_observer = qat::activation_observer();
  qat::FakeQuantize stem_observer = qat::activation_observer();
  qat::FakeQuantize output_observer = qat::activation_observer();

 private:
  void observe(const qat::FakeQuantize& observer) {
    register_module("activation_post_process_" + std::to_string(observed_++), observer);
  }

  void add_stage(const std::string& name, int count, int from, int width, int stride) {
    auto stage = register_module(name, nn::ModuleList());
    for (int i = 0; i < count; ++i) {
      stage->push_back(i == 0 ? Bottleneck(from, width, stride)
                              : Bottleneck(width * kExpansion, width, 1));
    }
    for (const auto& block : *stage) {
      blocks.emplace_back(std::dynamic_pointer_cast<BottleneckImpl>(block));
      for (const auto& observer : blocks.back()->observers()) observe(observer);
    }
  }

  int observed_ = 0;
};
TORCH_MODULE(ResNet50);

}  // namespace resnet50_quantized_qat

TORCHWATCH_DEFINE(resnet50_quantized_qat) {
  return {
      .domain = "computer vision",
      .task = "image classification",
      .paper = {.train = 32, .infer = 32},
      .small = {.train = 2, .infer = 2},
      .refusals = {.cuda_infer = "the original's int8 network runs on a CPU only"},
      .no_autocast = "fake quantisation takes float32 alone",
      .cut = "images 64x64, first stage 32 channels, batch 2",
      .build = build_classifier<QuantizedClassifier, resnet50_quantized_qat::ResNet50,
                                resnet50_quantized_qat::kPaper, resnet50_quantized_qat::kSmall>};
}

}  // namespace torchwatch::models
