#include "torchwatch/signals/interrupts.hpp"

#include <utility>

namespace torchwatch::signals {

void Interrupts::interrupt(const storage::ItemKey& item) {
  const std::scoped_lock lock(mutex_);
  for (auto* work : at_work_) {
    if (work->item_ != item) continue;
    work->is_interrupted_ = true;
    work->end_.request_stop();
  }
}

InterruptibleWork::InterruptibleWork(Interrupts* interrupts, storage::ItemKey item,
                                     std::stop_token stop)
    : interrupts_(interrupts),
      item_(std::move(item)),
      forward_(std::move(stop), [this] { end_.request_stop(); }) {
  if (interrupts_ == nullptr) return;
  const std::scoped_lock lock(interrupts_->mutex_);
  interrupts_->at_work_.push_back(this);
}

InterruptibleWork::~InterruptibleWork() {
  if (interrupts_ == nullptr) return;
  const std::scoped_lock lock(interrupts_->mutex_);
  std::erase(interrupts_->at_work_, this);
}

bool LastRun::end_after_it() {
  const std::scoped_lock lock(mutex_);
  if (under_way_ == 0 || is_last_) return false;
  is_last_ = true;
  return true;
}

bool LastRun::is_last() {
  const std::scoped_lock lock(mutex_);
  return is_last_;
}

RunUnderWay::RunUnderWay(LastRun* last) : last_(last) {
  if (last_ == nullptr) return;
  const std::scoped_lock lock(last_->mutex_);
  ++last_->under_way_;
}

RunUnderWay::~RunUnderWay() {
  if (last_ == nullptr) return;
  bool stops = false;
  {
    const std::scoped_lock lock(last_->mutex_);
    stops = --last_->under_way_ == 0 && last_->is_last_;
  }
  if (stops) last_->stop_.request_stop();
}

}  // namespace torchwatch::signals
