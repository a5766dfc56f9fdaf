#include <limits>

#include "parts/language_model_workload.hpp"
#include "parts/layers.hpp"
#include "parts/reformer_attention.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace reformer {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 320;
  std::int64_t train_length = 4096;  ///< rows * columns of the positions
  std::int64_t eval_length = 4096;
  std::int64_t position_rows = 64;
  std::int64_t position_columns = 64;
  std::int64_t row_width = 64;  ///< features that tell the row; the others tell the column
  std::int64_t feed_forward = 512;
  reformer::AttentionSize attention{
      .width = 256, .heads = 12, .head_width = 64, .chunk = 64, .buckets = 128};
  int layers = 6;
};
constexpr Size kPaper{};
constexpr Size kSmall{
    .train_length = 128,
    .eval_length = 128,
    .position_rows = 8,
    .position_columns = 16,
    .attention = {.width = 256, .heads = 12, .head_width = 64, .chunk = 32, .buckets = 128}};
constexpr double kDropout = 0.05;
constexpr double kNormEpsilon = 1e-12;

nn::LayerNorm layer_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(kNormEpsilon));
}

/// Positions laid out in rows and columns: one part of a position's features is its row's, the
/// other its column's.
struct AxialPositionEmbeddingsImpl : nn::Module {
  explicit AxialPositionEmbeddingsImpl(const Size& size)
      : rows(size.position_rows),
        columns(size.position_columns),
        weights(register_module("weights", nn::ParameterList())) {
    const auto column_width = size.attention.width - size.row_width;
    weights->append(torch::randn({rows, 1, size.row_width}, torch::requires_grad()));
    weights->append(torch::randn({1, columns, column_width}, torch::requires_grad()));
  }

  torch::Tensor forward(const torch::Tensor& position_ids) {
    const auto batch = position_ids.size(0);
    std::vector<torch::Tensor> parts;
    for (const auto& each : *weights) {
      const auto& weight = each.value();
      parts.push_back(weight.expand({batch, rows, columns, weight.size(2)}));
    }
    return is_training() ? all_dropped_out(parts) : picked(parts, position_ids);
  }

  std::int64_t rows, columns;
  nn::ParameterList weights;

 private:
  /// Drops out whole columns; in training the text fills all positions.
  torch::Tensor all_dropped_out(const std::vector<torch::Tensor>& parts) const {
    const auto whole = torch::cat(parts, -1).transpose(2, 1);
    const auto dropped = torch::feature_dropout(whole, kDropout, /*train=*/true);
    return dropped.transpose(2, 1).reshape({whole.size(0), rows * columns, -1});
  }

  /// The original waits for the device to tell the last position, and takes no more than is needed.
  torch::Tensor picked(const std::vector<torch::Tensor>& parts,
                       const torch::Tensor& position_ids) const {
    const auto last = position_ids.max().item<std::int64_t>();
    const auto needed = last / columns + 1;
    const auto whole =
        torch::cat({parts[0].narrow(1, 0, needed), parts[1].narrow(1, 0, needed)}, -1);
    const auto flat = whole.reshape({whole.size(0), -1, whole.size(-1)});
    std::vector<torch::Tensor> encodings;
    encodings.reserve(static_cast<std::size_t>(flat.size(0)));
    for (std::int64_t i = 0; i < flat.size(0); ++i) {
      encodings.push_back(torch::index_select(flat[i], 0, position_ids[i]).unsqueeze(0));
    }
    return torch::cat(encodings);
  }
};
TORCH_MODULE(AxialPositionEmbeddings);

struct EmbeddingsImpl : nn::Module {
  explicit EmbeddingsImpl(const Size& size)
      : word_embeddings(register_module("word_embeddings",
                                        nn::Embedding(size.vocabulary, size.attention.width))),
        position_embeddings(register_module("position_embeddings", AxialPositionEmbeddings(size))) {
  }

  torch::Tensor forward(const torch::Tensor& tokens) {
    const auto positions =
        torch::arange(tokens.size(1), tokens.options()).unsqueeze(0).expand(tokens.sizes());
    const auto words = torch::dropout(word_embeddings(tokens), kDropout, is_training());
    return words + position_embeddings(positions);
  }

  nn::Embedding word_embeddings;
  AxialPositionEmbeddings position_embeddings;
};
TORCH_MODULE(Embeddings);

std::shared_ptr<reformer::AttentionImpl> attention_of(const Size& size, int layer) {
  if (layer % 2 == 1) return std::make_shared<reformer::LSHSelfAttentionImpl>(size.attention);
  return std::make_shared<reformer::LocalSelfAttentionImpl>(size.attention, kDropout);
}

struct SelfOutputImpl : nn::Module {
  explicit SelfOutputImpl(const reformer::AttentionSize& size)
      : dense(register_module(
            "dense",
            nn::Linear(nn::LinearOptions(size.heads * size.head_width, size.width).bias(false)))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return torch::dropout(dense(x), kDropout, is_training());
  }

  nn::Linear dense;
};
TORCH_MODULE(SelfOutput);

struct AttentionBlockImpl : nn::Module {
  AttentionBlockImpl(const Size& size, int layer)
      : norm(register_module("layer_norm", layer_norm(size.attention.width))),
        self_attention(register_module("self_attention", attention_of(size, layer))),
        output(register_module("output", SelfOutput(size.attention))) {}

  reformer::Attended forward(const torch::Tensor& x, const torch::Tensor& buckets) {
    const auto attended = self_attention->attend(norm(x), buckets);
    return {output(attended.features), attended.buckets};
  }

  nn::LayerNorm norm;
  std::shared_ptr<reformer::AttentionImpl> self_attention;
  SelfOutput output;
};
TORCH_MODULE(AttentionBlock);

struct FeedForwardImpl : nn::Module {
  explicit FeedForwardImpl(const Size& size)
      : norm(register_module("layer_norm", layer_norm(size.attention.width))),
        dense(register_module("dense", nn::Linear(size.attention.width, size.feed_forward))),
        output(register_module("output", nn::Linear(size.feed_forward, size.attention.width))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const auto hidden = torch::dropout(dense(norm(x)), kDropout, is_training());
    return torch::dropout(output(torch::relu(hidden)), kDropout, is_training());
  }

  nn::LayerNorm norm;
  nn::Linear dense, output;
};
TORCH_MODULE(FeedForward);

/// The two streams of a reversible network between two layers, and on the way back the gradients by
/// them.
struct Streams {
  torch::Tensor attention, hidden;
};

/// A layer whose inputs can be computed from its outputs, so that training keeps no activations.
struct LayerImpl : nn::Module {
  LayerImpl(const Size& size, int layer)
      : attention(register_module("attention", AttentionBlock(size, layer))),
        feed_forward(register_module("feed_forward", FeedForward(size))) {}

  /// Leaves in `buckets` what the way back needs.
  Streams forward(const Streams& in, torch::Tensor& buckets) {
    const torch::NoGradGuard no_gradients;
    if (is_training()) attention_seed = reseed();
    const auto attended = attention->forward(in.hidden, {});
    buckets = attended.buckets;
    Streams out;
    out.attention = in.attention + attended.features;
    if (is_training()) feed_forward_seed = reseed();
    out.hidden = in.hidden + feed_forward(out.attention);
    return out;
  }

  /// Turns outputs and their gradients into inputs and theirs, and adds to the parameters'
  /// gradients. Computes both halves again, each from its seed. In a hashing layer, which then
  /// draws no rotations, this drops out other features than the way forward did; the original does
  /// so too.
  void backward(Streams& streams, Streams& gradients, const torch::Tensor& buckets) {
    undo(streams.attention, streams.hidden, gradients.attention, gradients.hidden,
         [&](const torch::Tensor& x) {
           torch::manual_seed(feed_forward_seed);
           return feed_forward(x);
         });
    undo(streams.hidden, streams.attention, gradients.hidden, gradients.attention,
         [&](const torch::Tensor& x) {
           torch::manual_seed(attention_seed);
           return attention->forward(x, buckets).features;
         });
    streams.hidden = streams.hidden.detach();
  }

  AttentionBlock attention;
  FeedForward feed_forward;
  std::uint64_t attention_seed = 0;
  std::uint64_t feed_forward_seed = 0;

 private:
  /// One half, which added `part(from)` to `to`. The gradient by `to` is what comes back to the
  /// part, and the gradient by `from` grows by what the part hands on.
  template <typename Part>
  static void undo(torch::Tensor& from, torch::Tensor& to, torch::Tensor& from_gradient,
                   const torch::Tensor& to_gradient, Part part) {
    torch::Tensor added;
    {
      const torch::AutoGradMode with_gradients(true);
      from.set_requires_grad(true);
      added = part(from);
      added.backward(to_gradient, /*retain_graph=*/true);
    }
    const torch::NoGradGuard no_gradients;
    to = to - added;
    from_gradient = from_gradient + from.grad();
    from.mutable_grad().reset();
  }

  /// A new seed for all generators. The original asks the system for it; here it follows from the
  /// last one, so that runs can be repeated.
  static std::uint64_t reseed() {
    const auto whole = torch::TensorOptions().dtype(torch::kInt64);
    const auto seed =
        torch::randint(std::numeric_limits<std::int64_t>::max(), {1}, whole).item<std::int64_t>();
    torch::manual_seed(static_cast<std::uint64_t>(seed));
    return static_cast<std::uint64_t>(seed);
  }
};
TORCH_MODULE(Layer);

/// The state of the forward that the backward needs.
struct Passage final : torch::CustomClassHolder {
  explicit Passage(nn::ModuleList passed) : layers(std::move(passed)) {}

  nn::ModuleList layers;
  std::vector<torch::Tensor> buckets;
};

/// All layers as one operator with its own gradient. Input and output hold both streams side by
/// side.
struct Reversible : torch::autograd::Function<Reversible> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& streams, const nn::ModuleList& layers) {
    auto passage = c10::make_intrusive<Passage>(layers);
    const auto halves = streams.chunk(2, -1);
    Streams passing{.attention = halves[1], .hidden = halves[0]};
    for (const auto& layer : *layers) {
      passage->buckets.emplace_back();
      passing = layer->as<LayerImpl>()->forward(passing, passage->buckets.back());
    }
    context->save_for_backward({passing.attention.detach(), passing.hidden.detach()});
    context->saved_data["passage"] = c10::IValue::make_capsule(passage);
    return torch::cat({passing.attention, passing.hidden}, -1);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto halves = gradients[0].chunk(2, -1);
    Streams by{.attention = halves[0], .hidden = halves[1]};
    const auto saved = context->get_saved_variables();
    Streams passing{.attention = saved[0].detach(), .hidden = saved[1].detach()};
    const auto passage =
        c10::static_intrusive_pointer_cast<Passage>(context->saved_data["passage"].toCapsule());
    for (auto i = passage->buckets.size(); i-- > 0;) {
      passage->layers->ptr(i)->as<LayerImpl>()->backward(passing, by, passage->buckets[i]);
    }
    return {torch::cat({by.attention, by.hidden}, -1), {}};
  }
};

struct EncoderImpl : nn::Module {
  explicit EncoderImpl(const Size& size)
      : layers(register_module("layers", nn::ModuleList())),
        norm(register_module("layer_norm", layer_norm(2 * size.attention.width))) {
    for (int i = 0; i < size.layers; ++i) layers->push_back(Layer(size, i));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto passed = Reversible::apply(torch::cat({x, x}, -1), layers);
    return torch::dropout(norm(passed), kDropout, is_training());
  }

  nn::ModuleList layers;
  nn::LayerNorm norm;
};
TORCH_MODULE(Encoder);

/// Guesses tokens. The bias is registered twice, as in the original; the weight is not shared.
struct LMHeadImpl : nn::Module {
  explicit LMHeadImpl(const Size& size)
      : bias(register_parameter("bias", torch::zeros({size.vocabulary}))),
        decoder(register_module(
            "decoder",
            tied::Linear(torch::randn({size.vocabulary, 2 * size.attention.width}) * 0.02, bias))) {
  }

  torch::Tensor forward(const torch::Tensor& x) { return decoder(x); }

  torch::Tensor bias;
  tied::Linear decoder;
};
TORCH_MODULE(LMHead);

/// The Reformer with its masked-language-model head.
struct ReformerImpl : nn::Module {
  explicit ReformerImpl(const Size& size)
      : embeddings(register_module("embeddings", Embeddings(size))),
        encoder(register_module("encoder", Encoder(size))),
        lm_head(register_module("lm_head", LMHead(size))) {
    draw_normal_weights(*this);
  }

  LanguageModelOutput forward(const torch::Tensor& input_ids, const torch::Tensor& labels) {
    LanguageModelOutput output;
    output.logits = lm_head(encoder(embeddings(input_ids)));
    if (labels.defined()) output.loss = token_loss(output.logits, labels);
    return output;
  }

  Embeddings embeddings;
  Encoder encoder;
  LMHead lm_head;
};
TORCH_MODULE(Reformer);

}  // namespace reformer

TORCHWATCH_DEFINE(hf_Reformer) {
  return {.domain = "natural language",
          .task = "language modelling",
          .paper = {.train = 8, .infer = 1},
          .small = {.train = 1, .infer = 1},
          .runs_in_16_bits = true,
          .cut = "128 tokens, chunks of 32; batch 1",
          .build = build_language_model<reformer::Reformer, reformer::kPaper, reformer::kSmall>};
}

}  // namespace torchwatch::models
