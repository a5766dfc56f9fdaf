#pragma once

#include <atomic>
#include <thread>

namespace torchwatch::test {

/// A thread that runs as long as the object lives, as one that waits actively does.
class ActiveThread {
 public:
  ActiveThread() {
    while (!is_begun_) std::this_thread::yield();
  }
  ActiveThread(const ActiveThread&) = delete;
  ActiveThread& operator=(const ActiveThread&) = delete;
  ~ActiveThread() { end(); }
  void end() { is_over_ = true; }

 private:
  std::atomic<bool> is_begun_ = false;
  std::atomic<bool> is_over_ = false;
  std::jthread thread_{[this] {
    is_begun_ = true;
    while (!is_over_) {
    }
  }};
};

}  // namespace torchwatch::test
