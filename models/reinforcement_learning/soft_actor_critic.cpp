#include <optional>

#include "parts/pendulum.hpp"
#include "parts/squashed_normal.hpp"
#include "torchwatch/models/network_workload.hpp"
#include "torchwatch/models/registry.hpp"

namespace torchwatch::models {
namespace soft_actor_critic {

namespace nn = torch::nn;

struct Size {
  std::int64_t hidden = 1024;
  std::int64_t memories = 1'000'000;  ///< capacity of the replay buffer
};
constexpr Size kPaper{};
constexpr Size kSmall{.hidden = 256, .memories = 10'000};

constexpr std::int64_t kStates = 3;
constexpr std::int64_t kActions = 1;
constexpr int kEpisodeSteps = 10;
constexpr double kLearningRate = 1e-4;
constexpr double kDiscount = 0.99;
constexpr double kFollow = 0.005;  ///< how far the targets follow the critics in a step
constexpr double kFirstAlpha = 0.1;
constexpr double kTargetEntropy = -static_cast<double>(kActions);

nn::Linear orthogonal(std::int64_t from, std::int64_t to) {
  nn::Linear linear(from, to);
  nn::init::orthogonal_(linear->weight);
  nn::init::zeros_(linear->bias);
  return linear;
}

/// Three linear layers, the shape of actor and critics alike.
struct HeadImpl : nn::Module {
  HeadImpl(std::int64_t inputs, std::int64_t hidden, std::int64_t outputs)
      : fc1(register_module("fc1", orthogonal(inputs, hidden))),
        fc2(register_module("fc2", orthogonal(hidden, hidden))),
        fc3(register_module("fc3", orthogonal(hidden, outputs))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return fc3(torch::relu(fc2(torch::relu(fc1(x)))));
  }

  nn::Linear fc1, fc2, fc3;
};
TORCH_MODULE(Head);

SquashedNormal policy(Head& actor, const torch::Tensor& state) {
  constexpr double kLow = -10.0;
  constexpr double kHigh = 2.0;
  const auto halves = actor->forward(state).chunk(2, 1);
  const auto log_scale = kLow + 0.5 * (kHigh - kLow) * (torch::tanh(halves[1]) + 1);
  return {halves[0], log_scale.exp()};
}

torch::Tensor judge(Head& critic, const torch::Tensor& state, const torch::Tensor& action) {
  return critic->forward(torch::cat({state, action}, 1));
}

struct Transitions {
  torch::Tensor state, action, reward, next_state, done;
};

/// Memories on the CPU, overwritten from the oldest when full.
class ReplayBuffer {
 public:
  explicit ReplayBuffer(std::int64_t capacity)
      : all_{torch::zeros({capacity, kStates}), torch::zeros({capacity, kActions}),
             torch::zeros({capacity, 1}), torch::zeros({capacity, kStates}),
             torch::zeros({capacity, 1}, torch::kInt32)} {}

  void push(const torch::Tensor& state, double action, double reward,
            const torch::Tensor& next_state) {
    const auto capacity = all_.state.size(0);
    all_.state[next_] = state;
    all_.action[next_] = action;
    all_.reward[next_] = reward;
    all_.next_state[next_] = next_state;
    all_.done[next_] = 0;
    next_ = (next_ + 1) % capacity;
    filled_ = std::min(filled_ + 1, capacity);
  }

  Transitions sample(std::int64_t count) const {
    const auto chosen = torch::randint(filled_, {count}, torch::kInt64);
    const auto of = [&chosen](const torch::Tensor& stack) { return stack.index({chosen}); };
    return {of(all_.state), of(all_.action), of(all_.reward), of(all_.next_state), of(all_.done)};
  }

 private:
  Transitions all_;
  std::int64_t next_ = 0;
  std::int64_t filled_ = 0;
};

torch::Tensor as_tensor(const Pendulum::Observation& observation) {
  return torch::tensor({observation[0], observation[1], observation[2]});
}

std::unique_ptr<torch::optim::Adam> adam_for(std::vector<torch::Tensor> parameters,
                                             double beta1 = 0.9) {
  return std::make_unique<torch::optim::Adam>(
      std::move(parameters), torch::optim::AdamOptions(kLearningRate).betas({beta1, 0.999}));
}

std::vector<torch::Tensor> both(const Head& first, const Head& second) {
  auto parameters = first->parameters();
  const auto more = second->parameters();
  parameters.insert(parameters.end(), more.begin(), more.end());
  return parameters;
}

class SoftActorCriticWorkload final : public NetworkWorkload {
 public:
  explicit SoftActorCriticWorkload(const Setup& setup)
      : NetworkWorkload(setup), batch_(setup.batch), world_(setup.seed) {
    const Size& size = setup.preset == Preset::paper ? kPaper : kSmall;
    actor_ = Head(kStates, size.hidden, 2 * kActions);
    critic1_ = Head(kStates + kActions, size.hidden, 1);
    critic2_ = Head(kStates + kActions, size.hidden, 1);
    adopt({actor_.ptr(), critic1_.ptr(), critic2_.ptr()});
    first_state_ = place(draw().normal({1, kStates}));
    if (!is_training()) return;
    make_targets(size);
    log_alpha_ = place(torch::full({1}, std::log(kFirstAlpha))).requires_grad_();
    buffer_.emplace(size.memories);
    actor_adam_ = adam_for(actor_->parameters());
    critic_adam_ = adam_for(both(critic1_, critic2_));
    alpha_adam_ = adam_for({log_alpha_}, 0.5);
  }

  /// Infer: an episode of ten steps, acting by the policy's mean. Train: see train_step.
  void iterate() override {
    if (is_training()) {
      train_step();
      return;
    }
    const torch::NoGradGuard no_gradients;
    auto state = as_tensor(world_.reset());
    for (int i = 0; i < kEpisodeSteps; ++i) {
      const auto action = policy(actor_, place(state.unsqueeze(0))).mean();
      state = as_tensor(world_.step(torque_of(action)).observation);
    }
  }

 protected:
  NamedTensors forward() override {
    return {{"action", policy(actor_, first_state_).mean().clamp(-1.0, 1.0).squeeze(0)}};
  }

  /// The critics' loss on drawn transitions, for comparing values.
  torch::Tensor loss() override {
    Transitions drawn;
    drawn.state = place(draw().normal({batch_, kStates}));
    drawn.next_state = place(draw().normal({batch_, kStates}));
    drawn.action = place(draw().uniform({batch_, kActions}));
    drawn.reward = place(draw().uniform({batch_, 1}));
    drawn.done = torch::zeros_like(drawn.reward);
    return critic_loss(drawn, log_alpha_.exp());
  }

  /// One step in the world, one batch of memories: critics, actor, temperature, then the targets.
  void train_step() override {
    live();
    auto batch = buffer_->sample(batch_);
    for (auto* each :
         {&batch.state, &batch.action, &batch.reward, &batch.next_state, &batch.done}) {
      *each = place(*each);
    }
    const auto alpha = log_alpha_.exp();
    const auto error = critic_loss(batch, alpha);
    critic_adam_->zero_grad();
    error.backward();
    critic_adam_->step();
    update_actor(batch, alpha);
    follow(target1_, critic1_);
    follow(target2_, critic2_);
    last_loss_ = error.detach();
  }

 private:
  void make_targets(const Size& size) {
    target1_ = Head(kStates + kActions, size.hidden, 1);
    target2_ = Head(kStates + kActions, size.hidden, 1);
    target1_->to(device());
    target2_->to(device());
    copy(target1_, critic1_);
    copy(target2_, critic2_);
  }

  static double torque_of(const torch::Tensor& action) {
    return action.clamp(-1.0, 1.0).to(torch::kCPU).item<double>();
  }

  /// Each call begins an episode and takes its first step, as one call of the original does.
  void live() {
    const torch::NoGradGuard no_gradients;
    const auto state = as_tensor(world_.reset());
    const double torque = torque_of(policy(actor_, place(state.unsqueeze(0))).draw_value());
    const auto outcome = world_.step(torque);
    buffer_->push(state, torque, outcome.reward, as_tensor(outcome.observation));
  }

  torch::Tensor critic_loss(const Transitions& batch, const torch::Tensor& alpha) {
    torch::Tensor goal;
    {
      const torch::NoGradGuard no_gradients;
      const auto next = policy(actor_, batch.next_state).sample();
      const auto density = next.log_density.sum(-1, /*keepdim=*/true);
      const auto worth = torch::min(judge(target1_, batch.next_state, next.value),
                                    judge(target2_, batch.next_state, next.value));
      goal = batch.reward + kDiscount * (1.0 - batch.done) * (worth - alpha * density);
    }
    const auto error1 = goal - judge(critic1_, batch.state, batch.action);
    const auto error2 = goal - judge(critic2_, batch.state, batch.action);
    return (0.5 * (error1.pow(2) + error2.pow(2))).mean();
  }

  void update_actor(const Transitions& batch, const torch::Tensor& alpha) {
    const auto act = policy(actor_, batch.state).sample();
    const auto density = act.log_density.sum(-1, /*keepdim=*/true);
    const auto worth = torch::min(judge(critic1_, batch.state, act.value),
                                  judge(critic2_, batch.state, act.value));
    const auto actor_loss = -(worth - alpha.detach() * density).mean();
    actor_adam_->zero_grad();
    actor_loss.backward();
    actor_adam_->step();

    const auto alpha_loss = (-alpha * (density + kTargetEntropy).detach()).mean();
    alpha_adam_->zero_grad();
    alpha_loss.backward();
    alpha_adam_->step();
  }

  static void copy(Head& to, const Head& from) {
    const torch::NoGradGuard no_gradients;
    const auto source = from->parameters();
    auto target = to->parameters();
    for (std::size_t i = 0; i < source.size(); ++i) target[i].copy_(source[i]);
  }

  static void follow(Head& to, const Head& from) {
    const torch::NoGradGuard no_gradients;
    const auto source = from->parameters();
    auto target = to->parameters();
    for (std::size_t i = 0; i < source.size(); ++i) {
      target[i].copy_(target[i] * (1.0 - kFollow) + source[i] * kFollow);
    }
  }

  std::int64_t batch_;
  Pendulum world_;
  Head actor_{nullptr}, critic1_{nullptr}, critic2_{nullptr};
  Head target1_{nullptr}, target2_{nullptr};
  torch::Tensor log_alpha_;
  torch::Tensor first_state_;
  std::optional<ReplayBuffer> buffer_;
  std::unique_ptr<torch::optim::Adam> actor_adam_, critic_adam_, alpha_adam_;
};

}  // namespace soft_actor_critic

TORCHWATCH_DEFINE(soft_actor_critic) {
  return {.domain = "reinforcement learning",
          .task = "continuous control",
          .paper = {.train = 256, .infer = 256},
          .small = {.train = 256, .infer = 256},
          .batch_rule = BatchRule::fixed,
          .build = build_as<soft_actor_critic::SoftActorCriticWorkload>};
}

}  // namespace torchwatch::models
