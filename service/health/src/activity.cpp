#include "torchwatch/health/activity.hpp"

namespace torchwatch::health {

void Activity::comparison_started(storage::Id id) {
  const std::scoped_lock lock(mutex_);
  doing_ = {.what = "", .comparison = id, .since = clock_.wall_now()};
}

void Activity::comparison_ended() {
  clear();
}

void Activity::step_started(const std::string& what) {
  const std::scoped_lock lock(mutex_);
  doing_.what = what;
  doing_.since = clock_.wall_now();
}

void Activity::clear() {
  const std::scoped_lock lock(mutex_);
  doing_ = {};
}

Doing Activity::now() const {
  const std::scoped_lock lock(mutex_);
  return doing_;
}

}  // namespace torchwatch::health
