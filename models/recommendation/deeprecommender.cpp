#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace deeprecommender {

namespace nn = torch::nn;

using Widths = std::vector<std::int64_t>;

constexpr std::int64_t kPaperItems = 197'951;
constexpr std::int64_t kSmallItems = 4'000;
constexpr double kCodeDropout = 0.8;

/// A deep autoencoder of ratings: SELU after every layer, the last one too; dropout on the code
/// alone; weights held as bare parameters.
struct AutoEncoderImpl : nn::Module {
  explicit AutoEncoderImpl(const Widths& widths)
      : drop(register_module("drop", nn::Dropout(kCodeDropout))) {
    const Widths reversed(widths.rbegin(), widths.rend());
    encode_w = register_module("encode_w", weights_of(widths));
    encode_b = register_module("encode_b", biases_of(widths));
    decode_w = register_module("decode_w", weights_of(reversed));
    decode_b = register_module("decode_b", biases_of(reversed));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto code = drop(layers(x, encode_w, encode_b));
    return layers(code, decode_w, decode_b);
  }

  nn::Dropout drop;
  nn::ParameterList encode_w, encode_b, decode_w, decode_b;

 private:
  static nn::ParameterList weights_of(const Widths& widths) {
    nn::ParameterList list;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      auto weight = torch::empty({widths[i + 1], widths[i]});
      list->append(nn::init::xavier_uniform_(weight).requires_grad_());
    }
    return list;
  }
  static nn::ParameterList biases_of(const Widths& widths) {
    nn::ParameterList list;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      list->append(torch::zeros({widths[i + 1]}).requires_grad_());
    }
    return list;
  }
  static torch::Tensor layers(torch::Tensor x, nn::ParameterList& weights,
                              nn::ParameterList& biases) {
    for (std::size_t i = 0; i < weights->size(); ++i) {
      x = torch::selu(torch::linear(x, weights[i], biases[i]));
    }
    return x;
  }
};
TORCH_MODULE(AutoEncoder);

/// Squared error over the ratings that are there, divided by their number.
torch::Tensor masked_mse(const torch::Tensor& output, const torch::Tensor& target) {
  const auto mask = (target != 0).to(torch::kFloat32);
  return torch::mse_loss(output * mask, target, at::Reduction::Sum) / mask.sum();
}

class DeepRecommenderWorkload final : public NetworkWorkload {
 public:
  explicit DeepRecommenderWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const auto items = setup.preset == Preset::paper ? kPaperItems : kSmallItems;
    network_ = AutoEncoder(Widths{items, 512, 512, 1024});
    adopt({network_.ptr()});
    ratings_ = place(draw().normal({setup.batch, items}));
    if (!is_training()) return;
    optimizer_ = std::make_unique<torch::optim::SGD>(parameters(),
                                                     torch::optim::SGDOptions(0.005).momentum(0.9));
  }

 protected:
  NamedTensors forward() override { return {{"", network_->forward(ratings_)}}; }
  torch::Tensor loss() override { return masked_mse(network_->forward(ratings_), ratings_); }

 private:
  AutoEncoder network_{nullptr};
  torch::Tensor ratings_;
};

}  // namespace deeprecommender

TORCHWATCH_DEFINE(nvidia_deeprecommender) {
  return {.domain = "recommendation",
          .task = "rating prediction",
          .paper = {.train = 256, .infer = 256},
          .small = {.train = 32, .infer = 32},
          .build = build_as<deeprecommender::DeepRecommenderWorkload>};
}

}  // namespace torchwatch::models
