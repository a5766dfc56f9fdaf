#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace {

namespace nn = torch::nn;

struct Size {
  int width = 64;  ///< channels of the first stage; each stage doubles them
  int image = 224;
  int classes = 1000;
};
constexpr Size kPaper{};
constexpr Size kSmall{.width = 32, .image = 64, .classes = 1000};

nn::Conv2d convolution(int from, int to, int kernel, int stride) {
  nn::Conv2d layer(
      nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false));
  return layer;
}

/// Two 3x3 convolutions and a shortcut, which is a 1x1 convolution where the shape changes.
struct BasicBlockImpl : nn::Module {
  BasicBlockImpl(int from, int to, int stride)
      : conv1(register_module("conv1", convolution(from, to, 3, stride))),
        bn1(register_module("bn1", nn::BatchNorm2d(to))),
        conv2(register_module("conv2", convolution(to, to, 3, 1))),
        bn2(register_module("bn2", nn::BatchNorm2d(to))) {
    if (stride == 1 && from == to) return;
    downsample = register_module(
        "downsample", nn::Sequential(convolution(from, to, 1, stride), nn::BatchNorm2d(to)));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = bn1(conv1(x)).relu_();
    y = bn2(conv2(y));
    y += downsample ? downsample->forward(x) : x;
    return y.relu_();
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential downsample{nullptr};
};
TORCH_MODULE(BasicBlock);

/// The residual network of 18 layers: two basic blocks in each of four stages.
struct ResNet18Impl : nn::Module {
  explicit ResNet18Impl(const Size& size)
      : conv1(register_module(
            "conv1",
            nn::Conv2d(nn::Conv2dOptions(3, size.width, 7).stride(2).padding(3).bias(false)))),
        bn1(register_module("bn1", nn::BatchNorm2d(size.width))) {
    int channels = size.width;
    for (int i = 0; i < 4; ++i) {
      const int to = size.width << i;
      const int stride = i == 0 ? 1 : 2;
      stages[i] =
          register_module("layer" + std::to_string(i + 1),
                          nn::Sequential(BasicBlock(channels, to, stride), BasicBlock(to, to, 1)));
      channels = to;
    }
    fc = register_module("fc", nn::Linear(channels, size.classes));
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* conv = module->as<nn::Conv2dImpl>()) {
        nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
      }
    }
  }

  torch::Tensor forward(torch::Tensor x) {
    x = bn1(conv1(x)).relu_();
    x = torch::max_pool2d(x, 3, 2, 1);
    for (auto& stage : stages) x = stage->forward(x);
    x = torch::adaptive_avg_pool2d(x, {1, 1});
    return fc(torch::flatten(x, 1));
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  std::array<nn::Sequential, 4> stages{nullptr, nullptr, nullptr, nullptr};
  nn::Linear fc{nullptr};
};
TORCH_MODULE(ResNet18);

class ResNet18Workload final : public NetworkWorkload {
 public:
  explicit ResNet18Workload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = ResNet18(size);
    adopt({network_.ptr()});
    images_ = place(draw().normal({setup.batch, 3, size.image, size.image}));
    if (!is_training()) return;
    target_ = place(draw().uniform({setup.batch, size.classes}));  // soft, as in the original
    optimizer_ =
        std::make_unique<torch::optim::Adam>(parameters(), torch::optim::AdamOptions(1e-3));
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(images_)}}; }
  torch::Tensor loss() override {
    return nn::functional::cross_entropy(network_->forward(images_), target_);
  }

 private:
  ResNet18 network_{nullptr};
  torch::Tensor images_;
  torch::Tensor target_;
};

}  // namespace

TORCHWATCH_DEFINE(resnet18) {
  return {.domain = "computer vision",
          .task = "image classification",
          .paper = {.train = 16, .infer = 8},
          .small = {.train = 4, .infer = 4},
          .build = [](const Setup& setup) -> std::unique_ptr<Workload> {
            return std::make_unique<ResNet18Workload>(setup);
          }};
}

}  // namespace torchwatch::models
