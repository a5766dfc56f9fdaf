#include <cmath>
#include <limits>
#include <numbers>

#include "parts/bert.hpp"
#include "parts/layers.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace fastnlp_bert {

namespace nn = torch::nn;

struct Size {
  std::int64_t train_context = 457;
  std::int64_t eval_context = 456;
  std::int64_t question = 16;
  std::int64_t vocabulary = 21'128;  ///< rows of the embedding; the data touch few of them
  std::int64_t width = 768;
  std::int64_t hidden = 3072;
  std::int64_t heads = 12;
  int layers = 12;
};
constexpr Size kPaper{};
constexpr Size kSmall{.train_context = 25,
                      .eval_context = 24,
                      .question = 6,
                      .vocabulary = 3000,
                      .width = 192,
                      .hidden = 768};
constexpr std::int64_t kPositions = 512;
constexpr double kDropout = 0.1;

// Words are single characters here, and each is one piece of the encoder's vocabulary. Their
// numbers are the same in both, which begin alike.
constexpr std::int64_t kPadding = 0;
constexpr std::int64_t kUnknown = 1;
constexpr std::int64_t kSeparator = 2;
constexpr std::int64_t kFirstCharacter = 3;
constexpr std::int64_t kWords = 2869;
constexpr std::int64_t kClass = kWords;  ///< the piece that begins a text, no word

struct EmbeddingsImpl : nn::Module {
  explicit EmbeddingsImpl(const Size& size)
      : word_embeddings(register_module(
            "word_embeddings",
            nn::Embedding(
                nn::EmbeddingOptions(size.vocabulary, size.width).padding_idx(kPadding)))),
        position_embeddings(
            register_module("position_embeddings", nn::Embedding(kPositions, size.width))),
        token_type_embeddings(
            register_module("token_type_embeddings", nn::Embedding(2, size.width))),
        norm(register_module("LayerNorm",
                             nn::LayerNorm(nn::LayerNormOptions({size.width}).eps(1e-12)))),
        dropout(register_module("dropout", nn::Dropout(kDropout))) {}

  torch::Tensor forward(const torch::Tensor& pieces, const torch::Tensor& types) {
    const auto positions =
        torch::arange(pieces.size(1), pieces.options()).unsqueeze(0).expand_as(pieces);
    return dropout(norm(word_embeddings(pieces) + position_embeddings(positions) +
                        token_type_embeddings(types)));
  }

  nn::Embedding word_embeddings, position_embeddings, token_type_embeddings;
  nn::LayerNorm norm;
  nn::Dropout dropout;
};
TORCH_MODULE(Embeddings);

/// GELU written out in elementwise operators, as this library has it.
torch::Tensor written_out_gelu(const torch::Tensor& x) {
  return x * 0.5 * (1.0 + torch::erf(x / std::numbers::sqrt2));
}

struct PoolerImpl : nn::Module {
  explicit PoolerImpl(std::int64_t width)
      : dense(register_module("dense", nn::Linear(width, width))) {}

  torch::Tensor forward(const torch::Tensor& x) { return torch::tanh(dense(x.select(1, 0))); }

  nn::Linear dense;
};
TORCH_MODULE(Pooler);

/// Texts as the encoder takes them, each batch x pieces: the piece, which part of the text it
/// belongs to, and 1 where there is one.
struct Pieces {
  torch::Tensor ids, types, visible;
};

/// Everything the encoder computes: all layers' outputs, of which the last is used, and the pooled
/// first piece, which is not.
struct Encoded {
  std::vector<torch::Tensor> layers;
  torch::Tensor pooled;
};

struct BertModelImpl : nn::Module {
  explicit BertModelImpl(const Size& size)
      : embeddings(register_module("embeddings", Embeddings(size))),
        layers(register_module("encoder", nn::ModuleList())),
        pooler(register_module("pooler", Pooler(size.width))) {
    const bert::LayerSize layer{size.width, size.hidden, size.heads};
    for (int i = 0; i < size.layers; ++i) layers->push_back(bert::Layer(layer, written_out_gelu));
    draw_normal_weights(*this);
  }

  Encoded forward(const Pieces& pieces) {
    const auto visible = pieces.visible.unsqueeze(1).unsqueeze(2).to(torch::kFloat32);
    const auto mask = (1.0 - visible) * -10'000.0;
    Encoded encoded;
    encoded.layers.push_back(embeddings(pieces.ids, pieces.types));
    for (const auto& layer : *layers) {
      encoded.layers.push_back(layer->as<bert::LayerImpl>()->forward(encoded.layers.back(), mask));
    }
    encoded.pooled = pooler(encoded.layers.back());
    return encoded;
  }

  Embeddings embeddings;
  nn::ModuleList layers;
  Pooler pooler;
};
TORCH_MODULE(BertModel);

/// The number of words of each text of a batch, and the number of pieces of each word.
struct Lengths {
  torch::Tensor is_word;     ///< batch x words
  torch::Tensor words;       ///< batch
  torch::Tensor of_words;    ///< batch x words, 0 behind the last word
  torch::Tensor pieces;      ///< batch
  std::int64_t longest = 0;  ///< in pieces
};

/// Splits words into pieces, encodes those and gives each word its first piece's features. As in
/// the original, texts are put together on the host in each forward.
struct WordModelImpl : nn::Module {
  explicit WordModelImpl(const Size& size)
      : encoder(register_module("encoder", BertModel(size))),
        word_pieces_lengths(
            register_buffer("word_pieces_lengths",
                            torch::ones({kWords}, torch::TensorOptions().dtype(torch::kInt64)))) {}

  torch::Tensor forward(const torch::Tensor& words) {
    const auto lengths = lengths_of(words);
    const auto encoded = encoder(split(words, lengths));
    return features_of_words(encoded.layers.back(), lengths);
  }

  BertModel encoder;
  torch::Tensor word_pieces_lengths;

 private:
  Lengths lengths_of(const torch::Tensor& words) const {
    const torch::NoGradGuard no_gradients;
    Lengths lengths;
    lengths.is_word = words.ne(kPadding);
    lengths.words = lengths.is_word.sum(-1);
    lengths.of_words = word_pieces_lengths.index({words}).masked_fill(lengths.is_word.eq(false), 0);
    lengths.pieces = lengths.of_words.sum(-1);
    lengths.longest = lengths.of_words.sum(-1).max().item<std::int64_t>();
    return lengths;
  }

  static Pieces split(const torch::Tensor& words, const Lengths& lengths) {
    const torch::NoGradGuard no_gradients;
    const auto batch = words.size(0);
    Pieces pieces;
    pieces.ids = words.new_full({batch, lengths.longest + 2}, kPadding);
    pieces.visible = torch::zeros_like(pieces.ids);
    const auto host_words = words.cpu();
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto count = lengths.words[i].item<std::int64_t>();
      const auto reach = lengths.pieces[i].item<std::int64_t>();
      pieces.ids[i].narrow(0, 1, reach).copy_(host_words[i].narrow(0, 0, count));
      pieces.visible[i].narrow(0, 0, reach + 2).fill_(1);
    }
    pieces.ids.select(1, 0).fill_(kClass);
    const auto rows = torch::arange(batch).to(words);
    pieces.ids.index_put_({rows, lengths.pieces + 1}, kSeparator);
    pieces.types = types_of(pieces.ids);
    return pieces;
  }

  /// 0 up to the first separator, 1 after it: counts separators from behind.
  static torch::Tensor types_of(const torch::Tensor& pieces) {
    const auto is_separator = pieces.eq(kSeparator).to(torch::kInt64);
    const auto types = is_separator.flip({-1}).cumsum(-1).flip({-1}).fmod(2);
    return types.narrow(1, 0, 1) ^ types;
  }

  /// batch x words x width.
  static torch::Tensor features_of_words(const torch::Tensor& encoded, const Lengths& lengths) {
    const auto batch = encoded.size(0);
    const auto words = lengths.of_words.size(1);
    auto features = encoded.new_zeros({1, batch, words, encoded.size(2)});
    auto begins = lengths.of_words.new_zeros({batch, words + 1});
    begins.narrow(1, 1, words).copy_(lengths.of_words.cumsum(-1));
    begins = begins.narrow(1, 0, lengths.words.max().item<std::int64_t>());
    begins.masked_fill_(begins.ge(lengths.longest), 0);

    const auto rows = torch::arange(batch).to(begins).unsqueeze(1).expand_as(begins);
    const auto without_ends = encoded.narrow(1, 1, encoded.size(1) - 2);
    const auto is_none = lengths.is_word.narrow(1, 0, begins.size(1)).unsqueeze(2).eq(false);
    const auto first = without_ends.index({rows, begins}).masked_fill(is_none, 0);
    features[0].narrow(1, 0, begins.size(1)).copy_(first);
    return torch::cat(features.unbind(), -1);
  }
};
TORCH_MODULE(WordModel);

struct WordEmbeddingImpl : nn::Module {
  explicit WordEmbeddingImpl(const Size& size)
      : dropout_layer(register_module("dropout_layer", nn::Dropout(0.5))),
        model(register_module("model", WordModel(size))) {}

  torch::Tensor forward(const torch::Tensor& words) {
    return dropout_layer(model(is_training() ? with_words_dropped(words) : words));
  }

  nn::Dropout dropout_layer;
  WordModel model;

 private:
  /// Makes one word of a hundred unknown, but no separator.
  static torch::Tensor with_words_dropped(const torch::Tensor& words) {
    constexpr double kDropped = 0.01;
    const torch::NoGradGuard no_gradients;
    const auto chances = torch::full_like(words, kDropped, torch::kFloat32);
    auto is_dropped = torch::bernoulli(chances).eq(1);
    is_dropped = words.ne(kPadding) & is_dropped;
    is_dropped = is_dropped & words.ne(kSeparator);
    return words.masked_fill(is_dropped, kUnknown);
  }
};
TORCH_MODULE(WordEmbedding);

/// The scores of each word as the answer's beginning and end, batch x words each.
struct Answers {
  torch::Tensor start, end;
};

/// BERT that answers questions on a text by two words of it.
struct QuestionAnsweringImpl : nn::Module {
  explicit QuestionAnsweringImpl(const Size& size)
      : bert(register_module("bert", WordEmbedding(size))),
        qa_outputs(register_module("qa_outputs", nn::Linear(size.width, 2))) {}

  Answers forward(const torch::Tensor& words) {
    const auto logits = qa_outputs(bert(words));
    return {logits.select(2, 0), logits.select(2, 1)};
  }

  WordEmbedding bert;
  nn::Linear qa_outputs;
};
TORCH_MODULE(QuestionAnswering);

/// Texts with their questions, and where the answers lie.
struct Batch {
  torch::Tensor words;
  torch::Tensor start, end;
  torch::Tensor context_length;
};

class FastNlpBertWorkload final : public NetworkWorkload {
 public:
  FastNlpBertWorkload(const Setup& setup, const Size& size)
      : NetworkWorkload(setup), batch_(setup.batch), network_(size) {
    adopt({network_.ptr()});
    const auto context = is_training() ? size.train_context : size.eval_context;
    const int questions = is_training() ? kTrainQuestions : kEvalQuestions;
    for (int i = 0; i < questions; ++i) batches_.push_back(draw_batch(context, size.question));
    if (!is_training()) return;
    optimizer_ =
        std::make_unique<torch::optim::AdamW>(parameters(), torch::optim::AdamWOptions(5e-5));
  }

  /// Goes through all batches: each text comes with each of its questions.
  void iterate() override {
    if (is_training()) {
      train_step();
      return;
    }
    const torch::NoGradGuard no_gradients;
    for (const auto& batch : batches_) network_->forward(batch.words);
  }

 protected:
  NamedTensors forward() override {
    const auto answers = network_->forward(batches_.front().words);
    return {{"pred_start", answers.start}, {"pred_end", answers.end}};
  }

  torch::Tensor loss() override { return loss_of(batches_.front()); }

  /// Counts batches anew in each call and collects gradients of ten before it updates: with five
  /// batches it never does, as the original does not.
  void train_step() override {
    constexpr std::size_t kUpdateEvery = 10;
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      const auto value = loss_of(batches_[i]);
      if (i % kUpdateEvery == 0) network_->zero_grad();
      value.backward();
      if ((i + 1) % kUpdateEvery == 0) optimizer_->step();
      last_loss_ = value.detach();
    }
  }

 private:
  static constexpr int kTrainQuestions = 5;
  static constexpr int kEvalQuestions = 4;
  static constexpr std::int64_t kAnswerEnd = 7;

  /// The answers of the original's simulated texts are their first eight characters.
  Batch draw_batch(std::int64_t context, std::int64_t question) {
    const auto whole = torch::TensorOptions().dtype(torch::kInt64);
    const auto words = draw().integers(kWords - kFirstCharacter, {batch_, context + 1 + question}) +
                       kFirstCharacter;
    words.select(1, context).fill_(kSeparator);
    return {.words = place(words),
            .start = place(torch::zeros({batch_}, whole)),
            .end = place(torch::full({batch_}, kAnswerEnd, whole)),
            .context_length = place(torch::full({batch_}, context, whole))};
  }

  torch::Tensor loss_of(const Batch& batch) {
    const auto answers = network_->forward(batch.words);
    const auto length = answers.end.size(1);
    const auto places = torch::arange(length).expand({batch_, -1}).to(batch.context_length);
    const auto is_question = places.lt(batch.context_length.unsqueeze(1)).eq(false);
    const auto summed = [&](const torch::Tensor& guess, const torch::Tensor& target) {
      constexpr float kNever = -std::numeric_limits<float>::infinity();
      return nn::functional::cross_entropy(
          guess.masked_fill(is_question, kNever), target,
          nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum));
    };
    const auto total = summed(answers.start, batch.start) + summed(answers.end, batch.end);
    return (total / batch_ / 2).mean();
  }

  std::int64_t batch_;
  QuestionAnswering network_;
  std::vector<Batch> batches_;
};

}  // namespace fastnlp_bert

TORCHWATCH_DEFINE(fastNLP_Bert) {
  return {
      .domain = "natural language",
      .task = "question answering",
      .paper = {.train = 6, .infer = 1},
      .small = {.train = 1, .infer = 1},
      .cut = "texts of 25 words, questions of 6, vocabulary 3,000, width 192, hidden 768; batch 1",
      .build =
          build_as<fastnlp_bert::FastNlpBertWorkload, fastnlp_bert::kPaper, fastnlp_bert::kSmall>};
}

}  // namespace torchwatch::models
