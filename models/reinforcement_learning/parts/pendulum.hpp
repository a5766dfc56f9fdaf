#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

namespace torchwatch::models {

/// The swing-up of a pendulum, a classic control task: three observations (cosine, sine, speed) and
/// one torque. Deterministic for a seed.
class Pendulum {
 public:
  using Observation = std::array<float, 3>;
  struct Outcome {
    Observation observation;
    double reward = 0;
  };

  explicit Pendulum(std::uint64_t seed) : random_(seed) {}

  Observation reset() {
    std::uniform_real_distribution<double> angle(-std::numbers::pi, std::numbers::pi);
    std::uniform_real_distribution<double> speed(-1.0, 1.0);
    angle_ = angle(random_);
    speed_ = speed(random_);
    return observe();
  }

  Outcome step(double torque) {
    constexpr double kTorqueMax = 2.0;
    constexpr double kSpeedMax = 8.0;
    constexpr double kGravity = 10.0;
    constexpr double kSeconds = 0.05;
    torque = std::clamp(torque, -kTorqueMax, kTorqueMax);
    const double tilt = std::remainder(angle_, 2 * std::numbers::pi);
    const double cost = tilt * tilt + 0.1 * speed_ * speed_ + 0.001 * torque * torque;
    const double acceleration = 1.5 * kGravity * std::sin(angle_) + 3.0 * torque;
    speed_ = std::clamp(speed_ + acceleration * kSeconds, -kSpeedMax, kSpeedMax);
    angle_ += speed_ * kSeconds;
    return {observe(), -cost};
  }

 private:
  Observation observe() const {
    return {static_cast<float>(std::cos(angle_)), static_cast<float>(std::sin(angle_)),
            static_cast<float>(speed_)};
  }

  std::mt19937_64 random_;
  double angle_ = 0;
  double speed_ = 0;
};

}  // namespace torchwatch::models
