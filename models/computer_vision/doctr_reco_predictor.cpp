#include <vector>

#include "parts/layers.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace doctr_reco_predictor {

namespace nn = torch::nn;

struct Size {
  int narrower = 1;  ///< divides the channels of the convolutions
};
constexpr Size kPaper{};
constexpr Size kSmall{.narrower = 2};

constexpr int kSymbols = 123;
constexpr std::int64_t kBlank = kSymbols;
constexpr int kUnits = 128;  ///< for the recurrent layers, in each direction

struct Stage {
  int width;
  int layers;
  int wide;  ///< what the pooling after it divides the width by; the height is always halved
};
constexpr std::array<Stage, 5> kStages{
    {{64, 2, 2}, {128, 2, 2}, {256, 3, 1}, {512, 3, 1}, {512, 3, 1}}};

/// VGG-16 with batch normalisation; the last poolings keep the width, which becomes time.
nn::Sequential features_of(const Size& size) {
  nn::Sequential features;
  int channels = 3;
  for (const auto& stage : kStages) {
    for (int i = 0; i < stage.layers; ++i) {
      const int width = stage.width / size.narrower;
      features->push_back(nn::Conv2d(nn::Conv2dOptions(channels, width, 3).padding(1)));
      features->push_back(nn::BatchNorm2d(width));
      features->push_back(in_place_relu());
      channels = width;
    }
    features->push_back(nn::MaxPool2d(nn::MaxPool2dOptions({2, stage.wide})));
  }
  return features;
}

/// Columns of an image's features, read in both directions; the logits of a symbol or a blank for
/// each.
struct CRNNImpl : nn::Module {
  explicit CRNNImpl(const Size& size)
      : feat_extractor(register_module("feat_extractor", features_of(size))),
        decoder(register_module(
            "decoder", nn::LSTM(nn::LSTMOptions(kStages.back().width / size.narrower, kUnits)
                                    .batch_first(true)
                                    .num_layers(2)
                                    .bidirectional(true)))),
        linear(register_module("linear", nn::Linear(2 * kUnits, kSymbols + 1))) {
    initialise_convolutions(*feat_extractor);
  }

  torch::Tensor forward(const torch::Tensor& images) {
    const auto features = feat_extractor->forward(images);
    const auto columns =
        features.reshape({-1, features.size(1) * features.size(2), features.size(3)});
    return linear(std::get<0>(decoder(columns.transpose(1, 2))));
  }

  nn::Sequential feat_extractor;
  nn::LSTM decoder;
  nn::Linear linear;
};
TORCH_MODULE(CRNN);

/// Symbols by number, and the lowest probability among those of its columns.
struct Word {
  std::vector<std::int64_t> symbols;
  float confidence = 0;
};

/// The best symbol of each column, without repetitions and then without blanks.
std::vector<std::int64_t> collapse(const torch::Tensor& best) {
  const auto columns = best.to(torch::kCPU);
  const auto* column = columns.data_ptr<std::int64_t>();
  std::vector<std::int64_t> symbols;
  std::int64_t last = kBlank;
  for (std::int64_t i = 0; i < columns.numel(); ++i) {
    if (column[i] != last && column[i] != kBlank) symbols.push_back(column[i]);
    last = column[i];
  }
  return symbols;
}

std::vector<Word> read(const torch::Tensor& logits) {
  const auto chances = std::get<0>(torch::softmax(logits, -1).max(-1));
  const auto lowest = std::get<0>(chances.min(1));
  std::vector<Word> words;
  for (const auto& best : logits.argmax(-1).unbind(0)) words.push_back({collapse(best)});
  const auto confidences = lowest.to(torch::kCPU);
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i].confidence = confidences.data_ptr<float>()[i];
  }
  return words;
}

class RecognitionWorkload final : public NetworkWorkload {
 public:
  explicit RecognitionWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = CRNN(size);
    adopt({network_.ptr()});
    images_ = place(draw().normal({setup.batch, 3, 32, 128}));
  }

 protected:
  /// The original's call reads the words as well, word by word on the host.
  NamedTensors forward() override {
    const auto logits = network_->forward(images_);
    words_ = read(logits);
    return {{"", logits}};
  }

  torch::Tensor loss() override { return {}; }  // not trained

 private:
  CRNN network_{nullptr};
  torch::Tensor images_;
  std::vector<Word> words_;
};

}  // namespace doctr_reco_predictor

// Filed under detection by the suite, although it recognises text.
TORCHWATCH_DEFINE(doctr_reco_predictor) {
  return {.domain = "computer vision",
          .task = "object detection",
          .paper = {.infer = 1},
          .small = {.infer = 1},
          .refusals = {.train = "the original has no training"},
          .no_autocast = "its characters are read from float32 alone",
          .cut = "half the channels of the convolutions",
          .build = build_as<doctr_reco_predictor::RecognitionWorkload>};
}

}  // namespace torchwatch::models
