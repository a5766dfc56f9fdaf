#include <optional>

#include "parts/painting_networks.hpp"
#include "parts/painting_world.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace learning_to_paint {

using namespace painting;

struct Size {
  std::int64_t pictures = 2000;
  int episodes = 5;  ///< per evaluation
  int steps = 40;    ///< per episode
  std::size_t memories = 32'000;
};
constexpr Size kPaper{};
constexpr Size kSmall{.pictures = 16, .episodes = 2, .steps = 2, .memories = 4};

constexpr std::int64_t kCoordinates = 2;
constexpr std::int64_t kSeenByActor = kColour + kColour + 1 + kCoordinates;
constexpr std::int64_t kSeenByCritic = kSeenByActor + kColour;

/// The coordinates of each pixel: rows and columns from 0 to 1.
torch::Tensor coordinates() {
  const auto line = torch::arange(kCanvas) / static_cast<double>(kCanvas - 1);
  const auto rows = line.unsqueeze(1).expand({kCanvas, kCanvas});
  const auto columns = line.unsqueeze(0).expand({kCanvas, kCanvas});
  return torch::stack({rows, columns}).unsqueeze(0);
}

/// The record of one painter's step, on the CPU.
struct Memory {
  torch::Tensor state, action, reward, next_state, is_last;
};

/// The oldest are overwritten when it is full.
class Memories {
 public:
  explicit Memories(std::size_t capacity) : capacity_(capacity) {}

  void push(Memory memory) {
    if (memories_.size() < capacity_) {
      memories_.push_back(std::move(memory));
      return;
    }
    memories_[oldest_] = std::move(memory);
    oldest_ = (oldest_ + 1) % capacity_;
  }

 private:
  std::size_t capacity_;
  std::size_t oldest_ = 0;
  std::vector<Memory> memories_;
};

class LearningToPaintWorkload final : public NetworkWorkload {
 public:
  explicit LearningToPaintWorkload(const Setup& setup)
      : NetworkWorkload(setup),
        size_(setup.preset == Preset::paper ? kPaper : kSmall),
        batch_(setup.batch),
        memories_(size_.memories) {
    adopt({actor_.ptr(), critic_.ptr(), renderer_.ptr(), discriminator_.ptr()});
    copy(actor_target_, actor_);
    copy(critic_target_, critic_);
    copy(discriminator_target_, discriminator_);
    coordinates_ = place(coordinates());
    const auto pictures = draw().uniform({size_.pictures, kColour, kCanvas, kCanvas});
    world_.emplace(pictures, renderer_, batch_, device());
    state_ = world_->begin_training();
  }

  /// Infer: some episodes, acting without learning. Train: see train_step.
  void iterate() override {
    if (is_training()) {
      train_step();
      return;
    }
    for (int i = 0; i < size_.episodes; ++i) evaluate(i * batch_);
  }

 protected:
  NamedTensors forward() override { return {{"", wish(state_)}}; }
  void counted_forward() override { wish(state_.narrow(0, 0, 1)); }

  /// The policy's loss, which the original reaches only after more steps than it makes in a call;
  /// for comparing values.
  torch::Tensor loss() override { return -worth(state_, wish(state_)).mean(); }

  /// One step of painting, put into the memory. The original counts the steps of a call from zero
  /// and learns after 40 of them, so never. It has no loss; the negative reward stands for it.
  void train_step() override {
    const auto action = act(state_);
    const auto outcome = world_->step(action);
    remember(action, outcome);
    state_ = outcome.observation;
    last_loss_ = -outcome.reward.mean();
  }

 private:
  void evaluate(std::int64_t first_picture) {
    auto state = world_->begin_test(first_picture);
    auto reward = torch::zeros({batch_}, torch::kFloat64);
    for (int i = 0; i < size_.steps; ++i) {
      auto outcome = world_->step(act(state));
      state = outcome.observation;
      reward += outcome.reward;
    }
    world_->distance().to(torch::kCPU);
  }

  /// The actor's action, on the CPU. Its normalisation never learns from what it sees here.
  torch::Tensor act(const torch::Tensor& state) {
    actor_->eval();
    torch::Tensor action;
    {
      const torch::NoGradGuard no_gradients;
      action = wish(state).to(torch::kCPU);
    }
    actor_->train();
    return action;
  }

  torch::Tensor wish(const torch::Tensor& state) {
    const auto pictures = state.narrow(1, 0, 2 * kColour).to(torch::kFloat32) / 255;
    const auto time = state.narrow(1, 2 * kColour, 1).to(torch::kFloat32) / size_.steps;
    return actor_(torch::cat({pictures, time, place_for(state)}, 1));
  }

  torch::Tensor place_for(const torch::Tensor& state) const {
    return coordinates_.expand({state.size(0), kCoordinates, kCanvas, kCanvas});
  }

  /// The critic's value of an action plus the discriminator's gain from its strokes.
  torch::Tensor worth(const torch::Tensor& state, const torch::Tensor& action) {
    const auto canvas = state.narrow(1, 0, kColour).to(torch::kFloat32) / 255;
    const auto subject = state.narrow(1, kColour, kColour).to(torch::kFloat32) / 255;
    const auto time = state.narrow(1, 2 * kColour, 1);
    const auto painted = paint(renderer_, canvas, action);
    const auto likeness = [&](const torch::Tensor& painting) {
      return discriminator_target_(torch::cat({subject, painting}, 1));
    };
    const auto gain = likeness(painted) - likeness(canvas);
    const auto next_time = (time + 1).to(torch::kFloat32) / size_.steps;
    const auto seen = torch::cat({canvas, painted, subject, next_time, place_for(state)}, 1);
    return critic_(seen) + gain;
  }

  void remember(const torch::Tensor& action, const World::Outcome& outcome) {
    const auto copied = [](const torch::Tensor& tensor) {
      return tensor.to(torch::kCPU, /*non_blocking=*/false, /*copy=*/true);
    };
    const Memory all{.state = copied(state_),
                     .action = copied(action),
                     .reward = copied(outcome.reward),
                     .next_state = copied(outcome.observation),
                     .is_last = torch::full({batch_}, outcome.number == size_.steps ? 1.0 : 0.0)};
    for (std::int64_t i = 0; i < batch_; ++i) {
      memories_.push({.state = all.state[i],
                      .action = all.action[i],
                      .reward = all.reward[i],
                      .next_state = all.next_state[i],
                      .is_last = all.is_last[i]});
    }
  }

  /// A target network is not part of the workload's parameters: it begins as a copy and would
  /// follow slowly.
  template <typename Network>
  void copy(Network& to, const Network& from) const {
    const torch::NoGradGuard no_gradients;
    to->to(device());
    const auto source = from->parameters();
    auto target = to->parameters();
    for (std::size_t i = 0; i < source.size(); ++i) target[i].copy_(source[i]);
  }

  Size size_;
  std::int64_t batch_;
  Memories memories_;
  Actor actor_{kSeenByActor, kStrokes * (kShape + kColour)};
  Actor actor_target_{kSeenByActor, kStrokes * (kShape + kColour)};
  Critic critic_{kSeenByCritic, 1};
  Critic critic_target_{kSeenByCritic, 1};
  Renderer renderer_;
  Discriminator discriminator_;
  Discriminator discriminator_target_;
  std::optional<World> world_;
  torch::Tensor coordinates_;
  torch::Tensor state_;
};

}  // namespace learning_to_paint

TORCHWATCH_DEFINE(LearningToPaint) {
  return {.domain = "reinforcement learning",
          .task = "stroke-based painting",
          .paper = {.train = 96, .infer = 96},
          .small = {.train = 2, .infer = 1},
          .cut = "batch 2 / 1, 2 episodes of 2 steps, 16 pictures, a memory of 4",
          .build = build_as<learning_to_paint::LearningToPaintWorkload>};
}

}  // namespace torchwatch::models
