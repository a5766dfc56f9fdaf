#include "torchwatch/signals/orders.hpp"

#include <csignal>
#include <utility>

namespace torchwatch::signals {
namespace {

/// Between the two arrivals of one signal; nobody who has lost patience is so fast.
constexpr std::chrono::milliseconds kOneSignal{100};

}  // namespace

bool Orders::take(int signal, std::chrono::steady_clock::time_point at) {
  if (signal == SIGUSR1) {
    tell(Order::say_state);
    return true;
  }
  const bool may_finish = signal == SIGINT && !stop_.stop_requested();
  if (may_finish && last_run_.end_after_it()) {
    tell(Order::say_last_run);
    return true;
  }
  if (signal == stopped_by_ && at - stopped_at_ < kOneSignal) return true;
  stopped_by_ = signal;
  stopped_at_ = at;
  return stop_.request_stop();
}

void Orders::tell(Order order) {
  const std::scoped_lock lock(mutex_);
  if (listener_) listener_(order);
}

Listening::Listening(Orders* orders, std::function<void(Order)> listener) : orders_(orders) {
  if (orders_ == nullptr) return;
  const std::scoped_lock lock(orders_->mutex_);
  orders_->listener_ = std::move(listener);
}

Listening::~Listening() {
  if (orders_ == nullptr) return;
  const std::scoped_lock lock(orders_->mutex_);
  orders_->listener_ = nullptr;
}

}  // namespace torchwatch::signals
