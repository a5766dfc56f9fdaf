#include "../computer_vision/parts/resnet.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace moco {

namespace nn = torch::nn;

struct Size {
  int width = 64;  ///< channels of an encoder's first stage
  int image = 224;
  std::int64_t queue = 32'000;
};
constexpr Size kPaper{};
constexpr Size kSmall{.width = 16, .image = 64, .queue = 3200};
constexpr int kFeatures = 128;
constexpr double kMomentum = 0.999;
constexpr double kTemperature = 0.07;
constexpr int kBatches = 2;

resnet::ResNet encoder(int width) {
  return resnet::ResNet(resnet::kResNet50, width, kFeatures);
}

struct Pair {
  torch::Tensor query, key;
};

struct Contrast {
  torch::Tensor logits, labels;
};

torch::Tensor normalised(const torch::Tensor& features, std::int64_t dimension) {
  return nn::functional::normalize(features, nn::functional::NormalizeFuncOptions().dim(dimension));
}

/// Contrast of an image with another view of it, among a queue of other images' features. The key
/// encoder follows the query encoder, and each forward, in evaluation too, moves it and the queue.
/// The original gathers from all processes; here, as there, it is one.
struct MoCoImpl : nn::Module {
  MoCoImpl(int width, const torch::Tensor& first_queue)
      : encoder_q(register_module("encoder_q", encoder(width))),
        encoder_k(register_module("encoder_k", encoder(width))),
        queue(register_buffer("queue", normalised(first_queue, 0))),
        queue_ptr(register_buffer("queue_ptr", torch::zeros({1}, torch::kInt64))) {
    const torch::NoGradGuard no_gradients;
    const auto followed = encoder_q->parameters();
    auto following = encoder_k->parameters();
    for (std::size_t i = 0; i < followed.size(); ++i) {
      following[i].copy_(followed[i]);
      following[i].requires_grad_(false);
    }
  }

  Contrast forward(const Pair& images) {
    const auto q = normalised(encoder_q(images.query), 1);
    const auto k = keys_of(images.key);
    const auto similar = torch::einsum("nc,nc->n", {q, k}).unsqueeze(-1);
    const auto others = torch::einsum("nc,ck->nk", {q, queue.clone()});
    auto logits = torch::cat({similar, others}, 1);
    logits /= kTemperature;
    const auto labels =
        torch::zeros({logits.size(0)}, torch::TensorOptions(torch::kInt64).device(q.device()));
    enqueue(k);
    return {logits, labels};
  }

  resnet::ResNet encoder_q, encoder_k;
  torch::Tensor queue;
  torch::Tensor queue_ptr;

 private:
  torch::Tensor keys_of(const torch::Tensor& images) {
    const torch::NoGradGuard no_gradients;
    follow();
    const auto order = torch::randperm(images.size(0)).to(images.device());
    const auto back = torch::argsort(order);
    const auto shuffled = gathered(images).index({order});
    return gathered(normalised(encoder_k(shuffled), 1)).index({back});
  }

  /// The tensors of all processes: there is one.
  static torch::Tensor gathered(const torch::Tensor& tensor) { return tensor.clone(); }

  void follow() {
    const auto followed = encoder_q->parameters();
    auto following = encoder_k->parameters();
    for (std::size_t i = 0; i < followed.size(); ++i) {
      following[i].set_data(following[i].detach() * kMomentum +
                            followed[i].detach() * (1 - kMomentum));
    }
  }

  /// Overwrites the oldest features. The original's position is read back from the device; it
  /// demands a queue of whole batches, here a batch that does not fit begins at the front.
  void enqueue(const torch::Tensor& keys) {
    const torch::NoGradGuard no_gradients;
    const auto all = gathered(keys);
    const auto count = all.size(0);
    const auto length = queue.size(1);
    const auto next = queue_ptr.item<std::int64_t>();
    const auto position = next + count > length ? 0 : next;
    queue.narrow(1, position, count).copy_(all.t());
    queue_ptr[0] = (position + count) % length;
  }
};
TORCH_MODULE(MoCo);

class MocoWorkload final : public NetworkWorkload {
 public:
  explicit MocoWorkload(const Setup& setup) : NetworkWorkload(setup) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    network_ = MoCo(size.width, draw().normal({kFeatures, size.queue}));
    adopt({network_.ptr()});
    for (auto& pair : pairs_) {
      pair.query = place(draw().normal({setup.batch, 3, size.image, size.image}));
      pair.key = place(draw().normal({setup.batch, 3, size.image, size.image}));
    }
    if (!is_training()) return;
    optimizer_ = std::make_unique<torch::optim::SGD>(
        parameters(), torch::optim::SGDOptions(0.03).momentum(0.9).weight_decay(1e-4));
  }

 protected:
  /// Runs both batches and returns the last one's outputs.
  NamedTensors forward() override {
    Contrast last;
    for (const auto& pair : pairs_) last = network_->forward(pair);
    return {{"logits", last.logits}, {"labels", last.labels}};
  }

  void counted_forward() override { network_->forward(pairs_.front()); }

  /// The loss of the first batch, used to compare values.
  torch::Tensor loss() override { return loss_of(pairs_.front()); }

  /// A step for each of the two batches.
  void train_step() override {
    for (const auto& pair : pairs_) {
      const auto value = loss_of(pair);
      optimizer_->zero_grad();
      value.backward();
      optimizer_->step();
      last_loss_ = value.detach();
    }
  }

 private:
  torch::Tensor loss_of(const Pair& pair) {
    const auto contrast = network_->forward(pair);
    return torch::cross_entropy_loss(contrast.logits, contrast.labels);
  }

  MoCo network_{nullptr};
  std::array<Pair, kBatches> pairs_;
};

}  // namespace moco

TORCHWATCH_DEFINE(moco) {
  return {.domain = "other",
          .task = "self-supervised learning",
          .paper = {.train = 32, .infer = 32},
          .small = {.train = 4, .infer = 4},
          .cut = "images 64x64, first stage 16 channels, queue of 3,200, batch 4",
          .build = build_as<moco::MocoWorkload>};
}

}  // namespace torchwatch::models
