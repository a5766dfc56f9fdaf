#include <cmath>
#include <numbers>

#include "parts/tacotron2_attention.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace tacotron2 {

using namespace tacotron2;

struct Size {
  std::int64_t width = 512;    ///< for embeddings, encoder and post-net
  std::int64_t memory = 1024;  ///< for both recurrent cells of the decoder
  std::int64_t prenet = 256;
  std::int64_t symbols_spoken = 100;
  std::int64_t frames = 400;
};
constexpr Size kPaper{};
constexpr Size kSmall{
    .width = 128, .memory = 256, .prenet = 64, .symbols_spoken = 20, .frames = 20};
constexpr std::int64_t kSymbols = 148;
constexpr std::int64_t kMels = 80;
constexpr std::int64_t kKernel = 5;
constexpr int kEncoderConvolutions = 3;
constexpr int kPostnetConvolutions = 5;
constexpr double kConvolutionDropout = 0.5;
constexpr double kCellDropout = 0.1;
constexpr double kSilentGate = 1e3;  ///< beyond an utterance's end

nn::Sequential normalised_convolution(std::int64_t from, std::int64_t to, const Gain& gain) {
  nn::Sequential layers(ConvNorm(from, to, kKernel, true, gain), nn::BatchNorm1d(to));
  return layers;
}

/// True where an utterance of the batch has ended. Waits for the longest of them, as the original.
torch::Tensor ended_mask(const torch::Tensor& lengths) {
  const auto longest = torch::max(lengths).item<std::int64_t>();
  const auto positions = torch::arange(0, longest, lengths.device());
  return ~(positions < lengths.unsqueeze(1));
}

/// Symbols' embeddings to what the decoder attends to.
struct EncoderImpl : nn::Module {
  explicit EncoderImpl(std::int64_t width)
      : convolutions(register_module("convolutions", nn::ModuleList())) {
    for (int i = 0; i < kEncoderConvolutions; ++i) {
      convolutions->push_back(normalised_convolution(width, width, torch::kReLU));
    }
    lstm = register_module(
        "lstm", nn::LSTM(nn::LSTMOptions(width, width / 2).batch_first(true).bidirectional(true)));
  }

  torch::Tensor forward(torch::Tensor x, const torch::Tensor& lengths) {
    for (const auto& each : *convolutions) {
      x = torch::dropout(torch::relu(each->as<nn::SequentialImpl>()->forward(x)),
                         kConvolutionDropout, is_training());
    }
    const auto packed = nn::utils::rnn::pack_padded_sequence(
        x.transpose(1, 2), lengths.to(torch::kCPU), /*batch_first=*/true);
    lstm->flatten_parameters();
    const auto outputs = std::get<0>(lstm->forward_with_packed_input(packed));
    return std::get<0>(nn::utils::rnn::pad_packed_sequence(outputs, /*batch_first=*/true));
  }

  nn::ModuleList convolutions;
  nn::LSTM lstm{nullptr};
};
TORCH_MODULE(Encoder);

/// Two layers whose dropout stays on in evaluation.
struct PrenetImpl : nn::Module {
  explicit PrenetImpl(std::int64_t width) : layers(register_module("layers", nn::ModuleList())) {
    layers->push_back(LinearNorm(kMels, width, false, torch::kLinear));
    layers->push_back(LinearNorm(width, width, false, torch::kLinear));
  }

  torch::Tensor forward(torch::Tensor x) {
    for (const auto& each : *layers) {
      x = torch::dropout(torch::relu(each->as<LinearNormImpl>()->forward(x)), 0.5, /*train=*/true);
    }
    return x;
  }

  nn::ModuleList layers;
};
TORCH_MODULE(Prenet);

struct Speech {
  torch::Tensor mels;        ///< utterance, channel, frame
  torch::Tensor gates;       ///< utterance, frame
  torch::Tensor alignments;  ///< utterance, frame, symbol
};

/// The decoder's state after a frame.
struct DecoderState {
  DecoderState(const torch::Tensor& memory, std::int64_t width)
      : attention_hidden(zeros_for(memory, width)),
        attention_cell(zeros_for(memory, width)),
        hidden(zeros_for(memory, width)),
        cell(zeros_for(memory, width)),
        weights(zeros_for(memory, memory.size(1))),
        summed_weights(zeros_for(memory, memory.size(1))),
        context(zeros_for(memory, memory.size(2))) {}

  torch::Tensor attention_hidden, attention_cell;
  torch::Tensor hidden, cell;
  torch::Tensor weights, summed_weights;
  torch::Tensor context;

 private:
  static torch::Tensor zeros_for(const torch::Tensor& memory, std::int64_t width) {
    return torch::zeros({memory.size(0), width}, memory.options().requires_grad(false));
  }
};

/// Frame after frame, each from the true one before it.
struct DecoderImpl : nn::Module {
  explicit DecoderImpl(const Size& size)
      : prenet(register_module("prenet", Prenet(size.prenet))),
        attention_rnn(
            register_module("attention_rnn", nn::LSTMCell(size.prenet + size.width, size.memory))),
        attention_layer(register_module("attention_layer", Attention(size.memory, size.width))),
        decoder_rnn(
            register_module("decoder_rnn", nn::LSTMCell(size.memory + size.width, size.memory))),
        linear_projection(
            register_module("linear_projection",
                            LinearNorm(size.memory + size.width, kMels, true, torch::kLinear))),
        gate_layer(register_module(
            "gate_layer", LinearNorm(size.memory + size.width, 1, true, torch::kSigmoid))) {}

  Speech forward(const torch::Tensor& memory, const torch::Tensor& mels,
                 const torch::Tensor& memory_lengths) {
    const auto inputs = prenet(frames_before(mels));
    DecoderState state(memory, attention_rnn->options.hidden_size());
    const Memory attended{memory, attention_layer->memory_layer(memory),
                          ended_mask(memory_lengths)};
    std::vector<torch::Tensor> mel_outputs;
    std::vector<torch::Tensor> gates;
    std::vector<torch::Tensor> alignments;
    for (std::int64_t frame = 0; frame + 1 < inputs.size(0); ++frame) {
      const auto output = decode(inputs[frame], attended, state);
      mel_outputs.push_back(linear_projection(output));
      gates.push_back(gate_layer(output).squeeze(1));
      alignments.push_back(state.weights);
    }
    return {torch::stack(mel_outputs).transpose(0, 1).contiguous().transpose(1, 2),
            torch::stack(gates).transpose(0, 1).contiguous(),
            torch::stack(alignments).transpose(0, 1)};
  }

  Prenet prenet;
  nn::LSTMCell attention_rnn;
  Attention attention_layer;
  nn::LSTMCell decoder_rnn;
  LinearNorm linear_projection;
  LinearNorm gate_layer;

 private:
  /// Silence, then the frames: frame, utterance, channel.
  static torch::Tensor frames_before(const torch::Tensor& mels) {
    const auto frames = mels.transpose(1, 2).transpose(0, 1);
    const auto silence = torch::zeros({1, mels.size(0), kMels}, mels.options());
    return torch::cat({silence, frames}, 0);
  }

  torch::Tensor decode(const torch::Tensor& input, const Memory& memory, DecoderState& state) {
    std::tie(state.attention_hidden, state.attention_cell) =
        attention_rnn(torch::cat({input, state.context}, -1),
                      std::make_tuple(state.attention_hidden, state.attention_cell));
    state.attention_hidden = torch::dropout(state.attention_hidden, kCellDropout, is_training());

    const auto weights =
        torch::cat({state.weights.unsqueeze(1), state.summed_weights.unsqueeze(1)}, 1);
    state.weights = attention_layer(state.attention_hidden, memory, weights);
    state.context = torch::bmm(state.weights.unsqueeze(1), memory.outputs).squeeze(1);
    state.summed_weights += state.weights;

    std::tie(state.hidden, state.cell) =
        decoder_rnn(torch::cat({state.attention_hidden, state.context}, -1),
                    std::make_tuple(state.hidden, state.cell));
    state.hidden = torch::dropout(state.hidden, kCellDropout, is_training());
    return torch::cat({state.hidden, state.context}, 1);
  }
};
TORCH_MODULE(Decoder);

/// Refines the decoder's frames with their neighbours.
struct PostnetImpl : nn::Module {
  explicit PostnetImpl(std::int64_t width)
      : convolutions(register_module("convolutions", nn::ModuleList())) {
    for (int i = 0; i < kPostnetConvolutions; ++i) {
      const bool is_last = i + 1 == kPostnetConvolutions;
      convolutions->push_back(
          normalised_convolution(i == 0 ? kMels : width, is_last ? kMels : width,
                                 is_last ? Gain(torch::kLinear) : Gain(torch::kTanh)));
    }
  }

  torch::Tensor forward(torch::Tensor x) {
    for (std::size_t i = 0; i < convolutions->size(); ++i) {
      x = convolutions[i]->as<nn::SequentialImpl>()->forward(x);
      if (i + 1 < convolutions->size()) x = torch::tanh(x);
      x = torch::dropout(x, kConvolutionDropout, is_training());
    }
    return x;
  }

  nn::ModuleList convolutions;
};
TORCH_MODULE(Postnet);

/// A batch of texts and of the speech that belongs to them, padded to equal lengths.
struct Batch {
  torch::Tensor text;
  torch::Tensor text_lengths;  ///< falling
  torch::Tensor mels;
  torch::Tensor mel_lengths;
};

struct Outputs {
  Speech speech;
  torch::Tensor refined_mels;
};

/// Text to a mel spectrogram (Shen et al. 2018).
struct Tacotron2Impl : nn::Module {
  explicit Tacotron2Impl(const Size& size)
      : embedding(register_module("embedding", nn::Embedding(kSymbols, size.width))),
        encoder(register_module("encoder", Encoder(size.width))),
        decoder(register_module("decoder", Decoder(size))),
        postnet(register_module("postnet", Postnet(size.width))) {
    const double bound =
        std::numbers::sqrt3 * std::sqrt(2.0 / static_cast<double>(kSymbols + size.width));
    nn::init::uniform_(embedding->weight, -bound, bound);
  }

  Outputs forward(const Batch& batch) {
    const auto embedded = embedding(batch.text).transpose(1, 2);
    const auto memory = encoder(embedded, batch.text_lengths);
    Outputs outputs;
    outputs.speech = decoder(memory, batch.mels, batch.text_lengths);
    outputs.refined_mels = outputs.speech.mels + postnet(outputs.speech.mels);
    silence(outputs, ended_mask(batch.mel_lengths));
    return outputs;
  }

  nn::Embedding embedding;
  Encoder encoder;
  Decoder decoder;
  Postnet postnet;

 private:
  /// Overwrites what lies beyond the utterances' ends, unseen by the gradients.
  static void silence(const Outputs& outputs, const torch::Tensor& ended) {
    const auto mask = ended.expand({kMels, -1, -1}).permute({1, 0, 2});
    outputs.speech.mels.data().masked_fill_(mask, 0.0);
    outputs.refined_mels.data().masked_fill_(mask, 0.0);
    outputs.speech.gates.data().masked_fill_(mask.select(1, 0), kSilentGate);
  }
};
TORCH_MODULE(Tacotron2);

class Tacotron2Workload final : public NetworkWorkload {
 public:
  explicit Tacotron2Workload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = Tacotron2(size);
    adopt({network_.ptr()});
    const auto lengths = [&setup](std::int64_t length) {
      return torch::full({setup.batch}, length, torch::kInt64);
    };
    batch_.text = place(draw().integers(kSymbols, {setup.batch, size.symbols_spoken}));
    batch_.text_lengths = place(lengths(size.symbols_spoken));
    batch_.mels = place(draw().normal({setup.batch, kMels, size.frames}));
    batch_.mel_lengths = place(lengths(size.frames));
    if (!is_training()) return;
    gate_target_ = place(torch::zeros({setup.batch, size.frames}));
    gate_target_.select(1, -1).fill_(1.0);  // the utterance ends there
    optimizer_ = std::make_unique<torch::optim::Adam>(
        parameters(), torch::optim::AdamOptions(1e-3).weight_decay(1e-6));
  }

 protected:
  NamedTensors forward() override {
    const auto [speech, refined_mels] = network_->forward(batch_);
    return {{"mels", speech.mels},
            {"mels_postnet", refined_mels},
            {"gates", speech.gates},
            {"alignments", speech.alignments}};
  }

  torch::Tensor loss() override {
    const auto [speech, refined_mels] = network_->forward(batch_);
    const auto mel_loss =
        torch::mse_loss(speech.mels, batch_.mels) + torch::mse_loss(refined_mels, batch_.mels);
    const auto gate_loss = torch::binary_cross_entropy_with_logits(speech.gates.view({-1, 1}),
                                                                   gate_target_.view({-1, 1}));
    return mel_loss + gate_loss;
  }

 private:
  Tacotron2 network_{nullptr};
  Batch batch_;
  torch::Tensor gate_target_;
};

}  // namespace tacotron2

TORCHWATCH_DEFINE(tacotron2) {
  return {.domain = "speech",
          .task = "synthesis",
          .paper = {.train = 64, .infer = 64},
          .small = {.train = 4, .infer = 4},
          .cut = "20 symbols, 20 frames, a quarter of each width, batch 4",
          .build = build_as<tacotron2::Tacotron2Workload>};
}

}  // namespace torchwatch::models
