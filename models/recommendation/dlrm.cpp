#include <algorithm>
#include <cmath>

#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace dlrm {

namespace nn = torch::nn;

struct Size {
  std::int64_t rows = 1'000'000;  ///< per table
  std::int64_t lookups = 100;     ///< indices drawn for a bag
  std::int64_t hidden = 1024;     ///< width of the upper layers
};
constexpr Size kPaper{};
constexpr Size kSmall{.rows = 20'000, .lookups = 20, .hidden = 256};
constexpr int kTables = 8;
constexpr std::int64_t kDense = 512;
constexpr std::int64_t kFeature = 64;

/// Linear layers, each followed by ReLU, the last one as well.
nn::Sequential layers_of(const std::vector<std::int64_t>& widths) {
  nn::Sequential layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const auto from = static_cast<double>(widths[i]);
    const auto to = static_cast<double>(widths[i + 1]);
    nn::Linear linear(widths[i], widths[i + 1]);
    nn::init::normal_(linear->weight, 0, std::sqrt(2 / (from + to)));
    nn::init::normal_(linear->bias, 0, std::sqrt(1 / to));
    layers->push_back(linear);
    layers->push_back(nn::ReLU());
  }
  return layers;
}

/// A table of its own first values: the usual ones, drawn only to be overwritten, would cost
/// seconds for half a billion of them.
nn::EmbeddingBag table_of(std::int64_t rows) {
  const double bound = std::sqrt(1.0 / static_cast<double>(rows));
  auto weight = torch::empty({rows, kFeature}).uniform_(-bound, bound);
  nn::EmbeddingBag table(
      nn::EmbeddingBagOptions(rows, kFeature).mode(torch::kSum).sparse(true)._weight(weight));
  return table;
}

/// Dense features through the lower layers, sparse ones through the tables; the dot products of all
/// pairs go through the upper layers.
struct DlrmImpl : nn::Module {
  explicit DlrmImpl(const Size& size) : tables(register_module("emb_l", nn::ModuleList())) {
    for (int i = 0; i < kTables; ++i) tables->push_back(table_of(size.rows));
    lower = register_module("bot_l", layers_of({kDense, 512, kFeature}));
    constexpr std::int64_t kFeatures = kTables + 1;
    constexpr std::int64_t kPairs = kFeatures * (kFeatures - 1) / 2;
    upper = register_module(
        "top_l", layers_of({kPairs + kFeature, size.hidden, size.hidden, size.hidden, 1}));
    for (std::int64_t i = 0; i < kFeatures; ++i) {
      for (std::int64_t j = 0; j < i; ++j) {
        pair_rows.push_back(i);
        pair_columns.push_back(j);
      }
    }
  }

  torch::Tensor forward(const torch::Tensor& dense, const std::vector<torch::Tensor>& indices,
                        const std::vector<torch::Tensor>& offsets) {
    std::vector<torch::Tensor> features{lower->forward(dense)};
    for (std::size_t i = 0; i < kTables; ++i) {
      features.push_back(tables[i]->as<nn::EmbeddingBagImpl>()->forward(indices[i], offsets[i]));
    }
    return upper->forward(interact(features));
  }

  torch::Tensor interact(const std::vector<torch::Tensor>& features) const {
    const auto& x = features.front();
    const auto all = torch::cat(features, 1).view({x.size(0), -1, x.size(1)});
    const auto products = torch::bmm(all, all.transpose(1, 2));
    // The original makes the two index tensors in every forward as well.
    const auto rows = torch::tensor(pair_rows);
    const auto columns = torch::tensor(pair_columns);
    return torch::cat({x, products.index({torch::indexing::Slice(), rows, columns})}, 1);
  }

  nn::ModuleList tables;
  nn::Sequential lower{nullptr};
  nn::Sequential upper{nullptr};
  std::vector<std::int64_t> pair_rows;
  std::vector<std::int64_t> pair_columns;
};
TORCH_MODULE(Dlrm);

/// The bags of one table: drawn indices, sorted and without duplicates within a bag.
struct Bags {
  torch::Tensor indices;
  torch::Tensor offsets;
};

Bags bags_of(const torch::Tensor& drawn) {
  std::vector<std::int64_t> indices;
  std::vector<std::int64_t> offsets;
  const auto width = drawn.size(1);
  const auto* row = drawn.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < drawn.size(0); ++i, row += width) {
    std::vector<std::int64_t> bag(row, row + width);
    std::ranges::sort(bag);
    const auto doubles = std::ranges::unique(bag);
    bag.erase(doubles.begin(), doubles.end());
    offsets.push_back(static_cast<std::int64_t>(indices.size()));
    indices.insert(indices.end(), bag.begin(), bag.end());
  }
  return {torch::tensor(indices), torch::tensor(offsets)};
}

class DlrmWorkload final : public NetworkWorkload {
 public:
  explicit DlrmWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = Dlrm(size);
    adopt({network_.ptr()});
    dense_ = place(draw().uniform({setup.batch, kDense}));
    for (int i = 0; i < kTables; ++i) {
      const auto bags = bags_of(draw().integers(size.rows, {setup.batch, size.lookups}));
      indices_.push_back(place(bags.indices));
      offsets_.push_back(place(bags.offsets));
    }
    if (!is_training()) return;
    target_ = place(draw().uniform({setup.batch, 1}));
    optimizer_ = std::make_unique<torch::optim::SGD>(parameters(), torch::optim::SGDOptions(0.01));
  }

 protected:
  NamedTensors forward() override { return {{"", output()}}; }
  torch::Tensor loss() override { return torch::mse_loss(output(), target_); }

  /// The original clears the gradients after the forward. Its learning-rate schedule has no steps.
  void train_step() override {
    const auto value = training_loss();
    optimizer_->zero_grad();
    value.backward();
    optimizer_->step();
    last_loss_ = value.detach();
  }

 private:
  torch::Tensor output() { return network_->forward(dense_, indices_, offsets_); }

  Dlrm network_{nullptr};
  torch::Tensor dense_;
  std::vector<torch::Tensor> indices_;
  std::vector<torch::Tensor> offsets_;
  torch::Tensor target_;
};

}  // namespace dlrm

TORCHWATCH_DEFINE(dlrm) {
  return {.domain = "recommendation",
          .task = "click prediction",
          .paper = {.train = 2048, .infer = 2048},
          .small = {.train = 128, .infer = 128},
          .build = build_as<dlrm::DlrmWorkload>};
}

}  // namespace torchwatch::models
