#include "torchwatch/platform/rounds.hpp"

#include <utility>

#include "torchwatch/platform/core_affinity.hpp"

namespace torchwatch::platform {

void Sleeper::wake() {
  const std::scoped_lock lock(mutex_);
  woken_ = true;
  wake_.notify_all();
}

bool Sleeper::sleep(std::chrono::seconds limit, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, stop, limit, [this] { return woken_; });
  return std::exchange(woken_, false);
}

Rounds::Rounds(std::chrono::seconds rest, Round round) {
  const OffMeasuredCore thread_to_come;
  thread_ = std::jthread([this, rest, round = std::move(round)](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      round(stop);
      sleeper_.sleep(rest, stop);
    }
  });
}

}  // namespace torchwatch::platform
