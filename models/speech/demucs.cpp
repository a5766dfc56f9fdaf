#include <algorithm>

#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace demucs {

namespace nn = torch::nn;

struct Size {
  std::int64_t channels = 64;  ///< for the first layer; each further one doubles them
  std::int64_t samples = 426'888;
  std::int64_t shift = 44'100;  ///< samples by which a source may be moved
};
constexpr Size kPaper{};
constexpr Size kSmall{.channels = 8, .samples = 44'100, .shift = 4'410};
constexpr int kDepth = 6;
constexpr std::int64_t kSources = 4;
constexpr std::int64_t kStereo = 2;
constexpr std::int64_t kKernel = 8;
constexpr std::int64_t kStride = 4;
constexpr std::int64_t kContext = 3;
constexpr std::int64_t kGroup = 4;  ///< items of a batch that exchange sources
constexpr double kWeightDeviation = 0.1;

/// The middle part of `x`, as long as `length`; an odd sample is left out at the end.
torch::Tensor trimmed(const torch::Tensor& x, std::int64_t length) {
  return x.narrow(-1, (x.size(-1) - length) / 2, length);
}

/// Two bidirectional layers over time, and a linear one back to the number of channels.
struct BlstmImpl : nn::Module {
  explicit BlstmImpl(std::int64_t width)
      : lstm(register_module(
            "lstm", nn::LSTM(nn::LSTMOptions(width, width).num_layers(2).bidirectional(true)))),
        linear(register_module("linear", nn::Linear(2 * width, width))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = linear(std::get<0>(lstm(x.permute({2, 0, 1}))));
    return y.permute({1, 2, 0});
  }

  nn::LSTM lstm;
  nn::Linear linear;
};
TORCH_MODULE(Blstm);

/// Divides a convolution's weights and biases so that the weights' deviation comes nearer to the
/// one wished for.
template <typename Convolution>
void rescale(Convolution& convolution) {
  const torch::NoGradGuard no_gradients;
  const auto scale = (convolution.weight.std() / kWeightDeviation).sqrt();
  convolution.weight.div_(scale);
  convolution.bias.div_(scale);
}

/// Separates the sources of a piece of music: convolutions down to a recurrent layer and up again,
/// with a skip connection at each level (Défossez et al. 2019).
struct DemucsImpl : nn::Module {
  explicit DemucsImpl(std::int64_t channels)
      : encoder(register_module("encoder", nn::ModuleList())),
        decoder(register_module("decoder", nn::ModuleList())) {
    std::int64_t from = kStereo;
    std::vector<nn::Sequential> decoders;
    for (int i = 0; i < kDepth; ++i) {
      encoder->push_back(encoding(from, channels));
      decoders.push_back(i == 0 ? decoding(channels, kSources * kStereo)
                                : decoding_inner(channels, from));
      from = channels;
      channels *= 2;
    }
    std::ranges::reverse(decoders);
    for (const auto& each : decoders) decoder->push_back(each);
    lstm = register_module("lstm", Blstm(from));
    for (const auto& module : modules(/*include_self=*/false)) {
      if (auto* down = module->as<nn::Conv1dImpl>()) rescale(*down);
      if (auto* up = module->as<nn::ConvTranspose1dImpl>()) rescale(*up);
    }
  }

  /// A batch of stereo mixes to as many sources for each.
  torch::Tensor forward(const torch::Tensor& mix) {
    auto x = mix;
    std::vector<torch::Tensor> skipped;
    for (const auto& each : *encoder) {
      x = each->as<nn::SequentialImpl>()->forward(x);
      skipped.push_back(x);
    }
    x = lstm(x);
    for (const auto& each : *decoder) {
      x = x + trimmed(skipped.back(), x.size(-1));
      skipped.pop_back();
      x = each->as<nn::SequentialImpl>()->forward(x);
    }
    return x.view({x.size(0), kSources, kStereo, x.size(-1)});
  }

  nn::ModuleList encoder;
  nn::ModuleList decoder;
  Blstm lstm{nullptr};

 private:
  static nn::Conv1d convolution(std::int64_t from, std::int64_t to, std::int64_t kernel,
                                std::int64_t stride = 1) {
    nn::Conv1d layer(nn::Conv1dOptions(from, to, kernel).stride(stride));
    return layer;
  }

  static nn::GLU gate() {
    nn::GLU layer(nn::GLUOptions(1));
    return layer;
  }

  static nn::Sequential encoding(std::int64_t from, std::int64_t to) {
    nn::Sequential layers(convolution(from, to, kKernel, kStride), nn::ReLU(),
                          convolution(to, 2 * to, 1), gate());
    return layers;
  }

  static nn::Sequential decoding(std::int64_t from, std::int64_t to) {
    nn::Sequential layers(
        convolution(from, 2 * from, kContext), gate(),
        nn::ConvTranspose1d(nn::ConvTranspose1dOptions(from, to, kKernel).stride(kStride)));
    return layers;
  }

  static nn::Sequential decoding_inner(std::int64_t from, std::int64_t to) {
    auto layers = decoding(from, to);
    layers->push_back(nn::ReLU());
    return layers;
  }
};
TORCH_MODULE(Demucs);

/// Moves each source by a random time; in evaluation all by none.
torch::Tensor shift(const torch::Tensor& wave, std::int64_t longest, bool is_learning) {
  const auto length = wave.size(3) - longest;
  if (!is_learning) return wave.narrow(3, 0, length);
  const auto whole = wave.options().dtype(torch::kInt64);
  const auto offsets = torch::randint(longest, {wave.size(0), wave.size(1), 1, 1}, whole)
                           .expand({-1, -1, wave.size(2), -1});
  return wave.gather(3, torch::arange(length, wave.device()) + offsets);
}

torch::Tensor flip_signs(const torch::Tensor& wave) {
  const auto signs = torch::randint(2, {wave.size(0), wave.size(1), 1, 1}, wave.options());
  return wave * (2 * signs - 1);
}

/// Exchanges left and right.
torch::Tensor flip_channels(const torch::Tensor& wave) {
  const auto whole = wave.options().dtype(torch::kInt64);
  const auto left = torch::randint(2, {wave.size(0), wave.size(1), 1, 1}, whole)
                        .expand({-1, -1, -1, wave.size(3)});
  return torch::cat({wave.gather(2, left), wave.gather(2, 1 - left)}, 2);
}

/// Exchanges sources within groups of the batch, which has to be whole groups.
torch::Tensor remix(const torch::Tensor& wave) {
  const auto grouped = wave.view({-1, kGroup, wave.size(1), wave.size(2), wave.size(3)});
  const auto order =
      torch::argsort(torch::rand({grouped.size(0), kGroup, wave.size(1), 1, 1}, wave.options()),
                     std::int64_t{1})
          .expand({-1, -1, -1, wave.size(2), wave.size(3)});
  return grouped.gather(1, order).view_as(wave);
}

class DemucsWorkload final : public NetworkWorkload {
 public:
  explicit DemucsWorkload(const Setup& setup)
      : NetworkWorkload(setup), size_(setup.preset == Preset::paper ? kPaper : kSmall) {
    network_ = Demucs(size_.channels);
    adopt({network_.ptr()});
    // The first is the mix, which the original leaves out and makes again of the sources.
    streams_ = place(draw().uniform({setup.batch, kSources + 1, kStereo, size_.samples}));
    if (!is_training()) return;
    optimizer_ =
        std::make_unique<torch::optim::Adam>(parameters(), torch::optim::AdamOptions(3e-4));
  }

  /// Infer: the original computes the loss there as well.
  void iterate() override {
    if (is_training()) {
      train_step();
      return;
    }
    const torch::NoGradGuard no_gradients;
    loss();
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(sources().sum(1))}}; }

  torch::Tensor loss() override {
    const auto wanted = sources();
    const auto estimates = network_->forward(wanted.sum(1));
    return torch::l1_loss(estimates, trimmed(wanted, estimates.size(-1)));
  }

  /// The gradients are cleared after the step.
  void train_step() override {
    const auto value = loss();
    value.backward();
    optimizer_->step();
    optimizer_->zero_grad();
    last_loss_ = value.detach();
  }

 private:
  /// The sources, in training changed at random in each iteration.
  torch::Tensor sources() {
    auto wave = streams_.narrow(1, 1, kSources);
    if (!network_->is_training()) return shift(wave, size_.shift, false);
    wave = flip_channels(flip_signs(wave));
    return remix(shift(wave, size_.shift, true));
  }

  Size size_;
  Demucs network_{nullptr};
  torch::Tensor streams_;
};

}  // namespace demucs

TORCHWATCH_DEFINE(demucs) {
  return {.domain = "speech",
          .task = "audio source separation",
          .paper = {.train = 64, .infer = 8},
          .small = {.train = 4, .infer = 1},
          .batch_rule = BatchRule::train_in_fours,
          .cut = "1 second, first layer 8 channels, batch 4 / 1",
          .build = build_as<demucs::DemucsWorkload>};
}

}  // namespace torchwatch::models
