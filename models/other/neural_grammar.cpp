#include <algorithm>

#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace neural_grammar {

namespace nn = torch::nn;

struct Size {
  std::int64_t vocabulary = 5000;
  std::int64_t words = 20;  ///< per sentence
};
constexpr Size kPaper{};
constexpr Size kSmall{.words = 8};
constexpr std::int64_t kTerminals = 30;
constexpr std::int64_t kNonterminals = 30;
constexpr std::int64_t kSymbols = kNonterminals + kTerminals;
constexpr std::int64_t kWidth = 256;
constexpr double kImpossible = -1e5;  ///< logarithm of a probability that is taken for 0
constexpr double kLargestGradient = 3.0;

/// A linear layer and two residual steps of two layers each.
struct ResImpl : nn::Module {
  ResImpl()
      : u1(register_module("u1", nn::Linear(kWidth, kWidth))),
        u2(register_module("u2", nn::Linear(kWidth, kWidth))),
        v1(register_module("v1", nn::Linear(kWidth, kWidth))),
        v2(register_module("v2", nn::Linear(kWidth, kWidth))),
        w(register_module("w", nn::Linear(kWidth, kWidth))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = w(x);
    y = y + torch::relu(v1(torch::relu(u1(y))));
    return y + torch::relu(v2(torch::relu(u2(y))));
  }

  nn::Linear u1, u2, v1, v2, w;
};
TORCH_MODULE(Res);

/// Logarithms of a grammar's probabilities: of a word's being a terminal's, of a nonterminal's
/// becoming two symbols, of a sentence's beginning with a nonterminal.
struct Grammar {
  torch::Tensor terminals;  ///< sentence, word, terminal
  torch::Tensor rules;      ///< sentence, nonterminal, left symbol, right symbol
  torch::Tensor roots;      ///< sentence, nonterminal
};

/// A context-free grammar whose probabilities are products of embeddings (Kim et al. 2019).
struct NeuralGrammarImpl : nn::Module {
  explicit NeuralGrammarImpl(std::int64_t vocabulary) {
    const auto embedding = [this](const char* name, std::vector<std::int64_t> shape) {
      shape.push_back(kWidth);
      return register_parameter(name, torch::empty(shape));
    };
    word_emb = embedding("word_emb", {vocabulary});
    term_emb = embedding("term_emb", {kTerminals});
    nonterm_emb = embedding("nonterm_emb", {kNonterminals});
    nonterm_emb_c = embedding("nonterm_emb_c", {kSymbols, kSymbols});
    root_emb = embedding("root_emb", {kNonterminals});
    s_emb = embedding("s_emb", {1});
    mlp1 = register_module("mlp1", Res());
    mlp2 = register_module("mlp2", Res());
    for (auto& parameter : parameters()) {
      if (parameter.dim() > 1) nn::init::xavier_uniform_(parameter);
    }
  }

  Grammar forward(const torch::Tensor& words) {
    return {terminals_of(words), rules(words.size(0)), roots(words.size(0))};
  }

  torch::Tensor word_emb, term_emb, nonterm_emb, nonterm_emb_c, root_emb, s_emb;
  Res mlp1{nullptr}, mlp2{nullptr};

 private:
  torch::Tensor terminals_of(const torch::Tensor& words) {
    const auto sentences = words.size(0);
    const auto length = words.size(1);
    const auto all = torch::einsum("vh,th->tv", {word_emb, mlp1(term_emb)})
                         .log_softmax(-1)
                         .unsqueeze(0)
                         .unsqueeze(0)
                         .expand({sentences, length, kTerminals, word_emb.size(0)});
    const auto chosen = words.unsqueeze(2).expand({sentences, length, kTerminals}).unsqueeze(3);
    return torch::gather(all, 3, chosen).squeeze(3);
  }

  torch::Tensor rules(std::int64_t sentences) {
    return torch::einsum("sh,tuh->stu", {nonterm_emb, nonterm_emb_c})
        .view({kNonterminals, -1})
        .log_softmax(-1)
        .view({1, kNonterminals, kSymbols, kSymbols})
        .expand({sentences, kNonterminals, kSymbols, kSymbols});
  }

  torch::Tensor roots(std::int64_t sentences) {
    return torch::einsum("ah,th->t", {s_emb, mlp2(root_emb)})
        .log_softmax(-1)
        .view({1, kNonterminals})
        .expand({sentences, kNonterminals});
  }
};
TORCH_MODULE(NeuralGrammar);

/// A matrix product of logarithms: additions, and a logarithm of summed exponentials.
torch::Tensor log_matmul(const torch::Tensor& a, const torch::Tensor& b) {
  return torch::logsumexp((a.unsqueeze(-1) + b.unsqueeze(-3)).transpose(-2, -1), -1);
}

/// The rules whose left and right symbols are in these ranges, as matrices from pairs of symbols to
/// nonterminals. The nonterminals come first among the symbols.
struct RulesByKind {
  explicit RulesByKind(const torch::Tensor& rules) {
    const auto of = [&rules](std::int64_t left, std::int64_t right) {
      return rules.narrow(2, left, kTerminals)
          .narrow(3, right, kTerminals)
          .contiguous()
          .view({rules.size(0), kNonterminals, -1})
          .transpose(-2, -1);
    };
    static_assert(kTerminals == kNonterminals);
    both_nonterminals = of(0, 0);
    right_terminal = of(0, kNonterminals);
    left_terminal = of(kNonterminals, 0);
    both_terminals = of(kNonterminals, kNonterminals);
  }

  torch::Tensor both_nonterminals, right_terminal, left_terminal, both_terminals;
};

/// Logarithms of the probabilities of all spans of words under each nonterminal.
class SpanChart {
 public:
  explicit SpanChart(const Grammar& grammar)
      : rules_(grammar.rules),
        terminals_(grammar.terminals + 0.0),
        words_(terminals_.size(1)),
        by_start_(torch::full({terminals_.size(0), words_, words_, kNonterminals}, kImpossible,
                              terminals_.options())),
        by_end_(by_start_.clone()) {
    for (std::int64_t width = 1; width < words_; ++width) fill(width);
  }

  /// The first `length` words of a sentence.
  torch::Tensor sentence(std::int64_t index, std::int64_t length) const {
    return by_start_.select(1, 0)[index][length - 1];
  }

 private:
  /// The spans of `width` + 1 words, from those of fewer words.
  void fill(std::int64_t width) {
    const auto starts = words_ - width;
    const auto flat = std::vector<std::int64_t>{terminals_.size(0), starts, -1};
    const auto left = by_start_.slice(1, 0, starts).slice(2, 0, width);
    const auto right = by_end_.slice(1, width).slice(2, starts);
    const auto left_word = terminals_.slice(1, 0, starts).unsqueeze(-1);
    const auto right_word = terminals_.slice(1, width).unsqueeze(-2);
    const auto left_span = left.select(2, -1).unsqueeze(-1);
    const auto right_span = right.select(2, 0).unsqueeze(-2);

    std::vector<torch::Tensor> ways{
        log_matmul(log_matmul(left.transpose(-2, -1), right).view(flat), rules_.both_nonterminals),
        log_matmul((left_span + right_word).view(flat), rules_.right_terminal),
        log_matmul((left_word + right_span).view(flat), rules_.left_terminal)};
    if (width == 1) {
      ways.push_back(log_matmul((left_word + right_word).view(flat), rules_.both_terminals));
    }
    const auto spans = torch::logsumexp(torch::stack(ways, -1), -1);
    by_start_.slice(1, 0, starts).select(2, width).copy_(spans);
    by_end_.slice(1, width).select(2, starts - 1).copy_(spans);
  }

  RulesByKind rules_;
  torch::Tensor terminals_;
  std::int64_t words_;
  torch::Tensor by_start_;  ///< sentence, first word, words less one, nonterminal
  torch::Tensor by_end_;    ///< sentence, last word, and the widest span first
};

/// The logarithm of each sentence's probability, over all its parses (the inside algorithm).
torch::Tensor log_partition(const Grammar& grammar, const torch::Tensor& lengths) {
  const SpanChart chart(grammar);
  std::vector<torch::Tensor> whole;
  for (std::int64_t i = 0; i < lengths.size(0); ++i) {
    whole.push_back(chart.sentence(i, lengths[i].item<std::int64_t>()));  // waits, as the original
  }
  return log_matmul(torch::stack(whole).unsqueeze(-2), grammar.roots.unsqueeze(-1))
      .squeeze(-1)
      .squeeze(-1);
}

/// Scales the gradients so that their common norm is at most `largest`. LibTorch's own waits for
/// the device, the original's does not.
void clip_gradients(const std::vector<torch::Tensor>& parameters, double largest) {
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : parameters) gradients.push_back(parameter.grad());
  const auto norm = torch::linalg_vector_norm(torch::stack(at::_foreach_norm(gradients)));
  at::_foreach_mul_(gradients, (largest / (norm + 1e-6)).clamp_max(1.0));
}

/// Unsupervised parsing. The batch is counted in words, as in the original, whose sentences come in
/// buckets of about equal length; here each has the same.
class NeuralGrammarWorkload final : public NetworkWorkload {
 public:
  explicit NeuralGrammarWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = NeuralGrammar(size.vocabulary);
    adopt({network_.ptr()});
    const auto sentences = std::max<std::int64_t>(1, setup.batch / size.words);
    words_ = place(draw().integers(size.vocabulary, {sentences, size.words}));
    lengths_ = place(torch::full({sentences}, size.words, torch::kInt64));
    optimizer_ = std::make_unique<torch::optim::Adam>(
        parameters(), torch::optim::AdamOptions(1e-3).betas({0.75, 0.999}));
  }

 protected:
  NamedTensors forward() override {
    const auto grammar = network_->forward(words_);
    return {{"terminals", grammar.terminals},
            {"rules", grammar.rules},
            {"roots", grammar.roots},
            {"log_partition", log_partition(grammar, lengths_)}};
  }

  torch::Tensor loss() override {
    return -log_partition(network_->forward(words_), lengths_).mean();
  }

  /// Clips the gradients.
  void train_step() override {
    optimizer_->zero_grad();
    const auto value = training_loss();
    value.backward();
    clip_gradients(parameters(), kLargestGradient);
    optimizer_->step();
    last_loss_ = value.detach();
  }

 private:
  NeuralGrammar network_{nullptr};
  torch::Tensor words_;
  torch::Tensor lengths_;
};

}  // namespace neural_grammar

TORCHWATCH_DEFINE(pytorch_struct) {
  return {.domain = "other",
          .task = "grammar induction",
          .paper = {.train = 200},
          .small = {.train = 40},
          .refusals = {.infer = "the original has no evaluation"},
          .cut = "5 sentences of 8 words",
          .build = build_as<neural_grammar::NeuralGrammarWorkload>};
}

}  // namespace torchwatch::models
