#include <array>
#include <cmath>
#include <optional>

#include "parts/frame_replay.hpp"
#include "parts/squashed_normal.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace drq {

namespace nn = torch::nn;

struct Size {
  std::int64_t hidden = 1024;
  std::int64_t sample = 128;  ///< steps drawn from the memory for an update
};
constexpr Size kPaper{};
constexpr Size kSmall{.hidden = 256, .sample = 4};

constexpr std::size_t kMemories = 100'000;
constexpr std::int64_t kStacked = 3;  ///< frames in an observation
constexpr std::int64_t kFrameChannels = 9;
constexpr std::int64_t kImage = 84;
constexpr std::int64_t kShift = 4;
constexpr std::int64_t kFilters = 32;
constexpr std::int64_t kEncodedImage = 35;
constexpr std::int64_t kFeatures = 50;
constexpr std::int64_t kActions = 1;
constexpr double kLearningRate = 1e-3;
constexpr double kDiscount = 0.99;
constexpr double kFollow = 0.01;  ///< how far the target follows the critic
constexpr int kActorEvery = 2;    ///< updates of the critic for one of the actor and the target
constexpr double kFirstAlpha = 0.1;
constexpr double kTargetEntropy = -static_cast<double>(kActions);

nn::Linear orthogonal(std::int64_t from, std::int64_t to) {
  nn::Linear linear(from, to);
  nn::init::orthogonal_(linear->weight);
  nn::init::zeros_(linear->bias);
  return linear;
}

/// The encoder's convolutions, which actor and critic share.
constexpr std::size_t kConvolutions = 4;
nn::ModuleList convolutions() {
  nn::ModuleList layers;
  for (std::size_t i = 0; i < kConvolutions; ++i) {
    const auto from = i == 0 ? kStacked * kFrameChannels : kFilters;
    nn::Conv2d layer(nn::Conv2dOptions(from, kFilters, 3).stride(i == 0 ? 2 : 1));
    nn::init::orthogonal_(layer->weight, std::sqrt(2.0));
    nn::init::zeros_(layer->bias);
    layers->push_back(layer);
  }
  return layers;
}

/// Three linear layers.
nn::Sequential perceptron(std::int64_t from, std::int64_t hidden, std::int64_t to) {
  const auto relu = nn::ReLUOptions(/*inplace=*/true);
  nn::Sequential layers;
  layers->push_back(orthogonal(from, hidden));
  layers->push_back(nn::ReLU(relu));
  layers->push_back(orthogonal(hidden, hidden));
  layers->push_back(nn::ReLU(relu));
  layers->push_back(orthogonal(hidden, to));
  return layers;
}

/// `learn` if the loss also trains the convolutions.
enum class Convolutions { learn, rest };

/// Pixels to features.
struct EncoderImpl : nn::Module {
  explicit EncoderImpl(const nn::ModuleList& shared)
      : convs(register_module("convs", shared)),
        head(register_module(
            "head", nn::Sequential(orthogonal(kFilters * kEncodedImage * kEncodedImage, kFeatures),
                                   nn::LayerNorm(nn::LayerNormOptions({kFeatures}))))) {}

  torch::Tensor forward(const torch::Tensor& images, Convolutions mode) {
    kept[0] = images / 255.0;
    for (std::size_t i = 0; i < kConvolutions; ++i) {
      kept[i + 1] = torch::relu(convs[i]->as<nn::Conv2dImpl>()->forward(kept[i]));
    }
    auto x = kept.back().reshape({images.size(0), -1});
    if (mode == Convolutions::rest) x = x.detach();
    return torch::tanh(head->forward(x));
  }

  nn::ModuleList convs;
  nn::Sequential head;
  /// The original keeps what the layers gave until the next forward, and so their graph.
  std::array<torch::Tensor, kConvolutions + 1> kept;
};
TORCH_MODULE(Encoder);

struct ActorImpl : nn::Module {
  ActorImpl(const nn::ModuleList& convolutions, std::int64_t hidden)
      : encoder(register_module("encoder", Encoder(convolutions))),
        trunk(register_module("trunk", perceptron(kFeatures, hidden, 2 * kActions))) {}

  SquashedNormal forward(const torch::Tensor& images, Convolutions mode = Convolutions::learn) {
    constexpr double kLow = -10.0;
    constexpr double kHigh = 2.0;
    const auto halves = trunk->forward(encoder->forward(images, mode)).chunk(2, -1);
    const auto log_scale = kLow + 0.5 * (kHigh - kLow) * (torch::tanh(halves[1]) + 1);
    return {halves[0], log_scale.exp()};
  }

  Encoder encoder;
  nn::Sequential trunk;
};
TORCH_MODULE(Actor);

/// Two judges of an action behind one encoder.
struct CriticImpl : nn::Module {
  CriticImpl(const nn::ModuleList& convolutions, std::int64_t hidden)
      : encoder(register_module("encoder", Encoder(convolutions))),
        q1(register_module("Q1", perceptron(kFeatures + kActions, hidden, 1))),
        q2(register_module("Q2", perceptron(kFeatures + kActions, hidden, 1))) {}

  struct Worth {
    torch::Tensor q1, q2;
    torch::Tensor lower() const { return torch::min(q1, q2); }
  };
  Worth forward(const torch::Tensor& images, const torch::Tensor& action,
                Convolutions mode = Convolutions::learn) {
    const auto x = torch::cat({encoder->forward(images, mode), action}, -1);
    return {q1->forward(x), q2->forward(x)};
  }

  Encoder encoder;
  nn::Sequential q1, q2;
};
TORCH_MODULE(Critic);

/// Every step shows the same image, stacked.
class StillWorld {
 public:
  explicit StillWorld(torch::Tensor frame) : frame_(std::move(frame)) {}
  torch::Tensor observe() const { return torch::cat(std::vector<torch::Tensor>(kStacked, frame_)); }

 private:
  torch::Tensor frame_;
};

/// Steps from the memory on the device, their images shifted in two ways.
struct Lesson {
  torch::Tensor images, shifted_images, next_images, shifted_next_images;
  torch::Tensor action, reward, not_last;
};

std::unique_ptr<torch::optim::Adam> adam_for(std::vector<torch::Tensor> parameters) {
  return std::make_unique<torch::optim::Adam>(std::move(parameters),
                                              torch::optim::AdamOptions(kLearningRate));
}

class DrqWorkload final : public NetworkWorkload {
 public:
  explicit DrqWorkload(const Setup& setup)
      : NetworkWorkload(setup), size_(setup.preset == Preset::paper ? kPaper : kSmall) {
    const auto shared = convolutions();
    actor_ = Actor(shared, size_.hidden);
    critic_ = Critic(shared, size_.hidden);
    adopt({actor_.ptr(), critic_.ptr()});
    constexpr std::int64_t kDarkest = 11;
    constexpr std::int64_t kBrightest = 227;
    const auto frame =
        draw().integers(kBrightest - kDarkest + 1, {kFrameChannels, kImage, kImage}) + kDarkest;
    world_.emplace(frame.to(torch::kUInt8));
    if (is_training()) prepare_to_learn();
  }

  std::int64_t period() const override { return is_training() ? kActorEvery : 1; }

  /// Infer: one step in the world, by the policy's mean. Train: see train_step.
  void iterate() override {
    if (is_training()) {
      train_step();
      return;
    }
    const torch::NoGradGuard no_gradients;
    forward().front().second.to(torch::kCPU);
    world_->observe();
  }

 protected:
  NamedTensors forward() override {
    return {{"action", actor_->forward(seen(world_->observe())).mean().clamp(-1.0, 1.0)}};
  }

  /// The critic's loss on drawn images that are not shifted, for comparing values.
  torch::Tensor loss() override {
    Lesson drawn;
    drawn.images = draw_images();
    drawn.next_images = draw_images();
    drawn.shifted_images = drawn.images;
    drawn.shifted_next_images = drawn.next_images;
    drawn.action = place(draw().uniform({size_.sample, kActions}));
    drawn.reward = place(draw().uniform({size_.sample, 1}));
    drawn.not_last = torch::ones_like(drawn.reward);
    return critic_loss(drawn);
  }

  /// One update from memory and one step in the world. The critic learns in each, actor,
  /// temperature and target in every other one.
  void train_step() override {
    const auto images = world_->observe();
    const auto action = act(images);
    update();
    remember(images, action);
    ++steps_;
  }

 private:
  /// Makes the original's first call, which is never measured: it acts at random and learns
  /// nothing, as the replay memory is still empty.
  void prepare_to_learn() {
    target_ = Critic(convolutions(), size_.hidden);
    target_->to(device());
    follow(1.0);
    log_alpha_ = place(torch::tensor(std::log(kFirstAlpha), torch::kFloat64)).requires_grad_();
    actor_adam_ = adam_for(actor_->parameters());
    critic_adam_ = adam_for(critic_->parameters());
    alpha_adam_ = adam_for({log_alpha_});
    const auto action = torch::rand({kActions}) * 2 - 1;
    remember(world_->observe(), action);
  }

  torch::Tensor seen(const torch::Tensor& images) const {
    return place(images.to(torch::kFloat32)).unsqueeze(0);
  }

  torch::Tensor draw_images() {
    const auto pixels =
        draw().integers(256, {size_.sample, kStacked * kFrameChannels, kImage, kImage});
    return place(pixels.to(torch::kFloat32));
  }

  /// On the CPU.
  torch::Tensor act(const torch::Tensor& images) {
    const auto wishes = actor_->forward(seen(images));
    const torch::NoGradGuard no_gradients;
    return wishes.draw_value().clamp(-1.0, 1.0)[0].to(torch::kCPU);
  }

  void remember(const torch::Tensor& images, const torch::Tensor& action) {
    memory_.push({.frames = images,
                  .action = action.item<float>(),
                  .reward = 0,
                  .next_frames = world_->observe(),
                  .is_last = false});
  }

  void update() {
    const auto lesson = recall();
    const auto error = critic_loss(lesson);
    critic_adam_->zero_grad();
    error.backward();
    critic_adam_->step();
    last_loss_ = error.detach();
    if (steps_ % kActorEvery != 0) return;
    update_actor(lesson.images);
    follow(kFollow);
  }

  /// Each image is moved to the device twice, to be shifted in two ways.
  Lesson recall() const {
    const auto batch = memory_.sample(size_.sample);
    const auto again = batch.frames.clone();
    const auto next_again = batch.next_frames.clone();
    const auto float_of = [this](const torch::Tensor& frames) {
      return place(frames).to(torch::kFloat32);
    };
    Lesson lesson;
    lesson.images = float_of(batch.frames);
    lesson.next_images = float_of(batch.next_frames);
    lesson.shifted_images = float_of(again);
    lesson.shifted_next_images = float_of(next_again);
    lesson.action = place(batch.action);
    lesson.reward = place(batch.reward);
    lesson.not_last = place(batch.not_last);
    for (auto* images : {&lesson.images, &lesson.next_images, &lesson.shifted_images,
                         &lesson.shifted_next_images}) {
      *images = randomly_shifted(*images, kShift);
    }
    return lesson;
  }

  /// The same goal, the mean over both ways of shifting, for both ways of seeing.
  torch::Tensor critic_loss(const Lesson& lesson) {
    torch::Tensor goal;
    {
      const torch::NoGradGuard no_gradients;
      const auto plain = goal_after(lesson.next_images, lesson);
      goal = (plain + goal_after(lesson.shifted_next_images, lesson)) / 2;
    }
    return critic_error(lesson.images, lesson.action, goal) +
           critic_error(lesson.shifted_images, lesson.action, goal);
  }

  torch::Tensor critic_error(const torch::Tensor& images, const torch::Tensor& action,
                             const torch::Tensor& goal) {
    const auto worth = critic_->forward(images, action);
    return torch::mse_loss(worth.q1, goal) + torch::mse_loss(worth.q2, goal);
  }

  torch::Tensor goal_after(const torch::Tensor& next_images, const Lesson& lesson) {
    const auto next = actor_->forward(next_images).sample();
    const auto density = next.log_density.sum(-1, /*keepdim=*/true);
    const auto worth = target_->forward(next_images, next.value).lower();
    const auto value = worth - alpha().detach() * density;
    return lesson.reward + lesson.not_last * kDiscount * value;
  }

  void update_actor(const torch::Tensor& images) {
    const auto act = actor_->forward(images, Convolutions::rest).sample();
    const auto density = act.log_density.sum(-1, /*keepdim=*/true);
    const auto worth = critic_->forward(images, act.value, Convolutions::rest).lower();
    const auto actor_loss = (alpha().detach() * density - worth).mean();
    actor_adam_->zero_grad();
    actor_loss.backward();
    actor_adam_->step();

    alpha_adam_->zero_grad();
    const auto alpha_loss = (alpha() * (-density - kTargetEntropy).detach()).mean();
    alpha_loss.backward();
    alpha_adam_->step();
  }

  torch::Tensor alpha() const { return log_alpha_.exp(); }

  /// Moves the target towards the critic.
  void follow(double share) {
    const torch::NoGradGuard no_gradients;
    const auto source = critic_->parameters();
    auto target = target_->parameters();
    for (std::size_t i = 0; i < source.size(); ++i) {
      target[i].copy_(share * source[i] + (1 - share) * target[i]);
    }
  }

  Size size_;
  Actor actor_{nullptr};
  Critic critic_{nullptr}, target_{nullptr};
  std::optional<StillWorld> world_;
  FrameReplay memory_{kMemories};
  torch::Tensor log_alpha_;
  std::unique_ptr<torch::optim::Adam> actor_adam_, critic_adam_, alpha_adam_;
  std::int64_t steps_ = 1;
};

}  // namespace drq

TORCHWATCH_DEFINE(drq) {
  return {.domain = "reinforcement learning",
          .task = "continuous control",
          .paper = {.train = 1, .infer = 1},
          .small = {.train = 1, .infer = 1},
          .batch_rule = BatchRule::fixed,
          .cut = "updates from 4 steps, hidden layers 256 wide",
          .build = build_as<drq::DrqWorkload>};
}

}  // namespace torchwatch::models
