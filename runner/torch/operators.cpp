#include <mutex>

#include "torchwatch/models/torch.hpp"
#include "torchwatch/runner/libtorch.hpp"

namespace torchwatch::runner {
namespace {

/// Calls by operator; autograd's threads call as well.
class CallCounter {
 public:
  void add(const char* name) {
    const std::scoped_lock lock(mutex_);
    ++calls_[name];
  }
  std::map<std::string, std::int64_t> calls() const { return calls_; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::int64_t> calls_;
};

/// LibTorch's callbacks are plain functions; the count in progress is reached here.
CallCounter* counter = nullptr;

std::unique_ptr<at::ObserverContext> on_enter(const at::RecordFunction& call) {
  // What has no operator's name is a range that somebody marked, or a node of autograd.
  if (call.operator_name()) counter->add(call.name());
  return nullptr;
}

/// Watches as long as it lives: the work may throw.
class Watch {
 public:
  explicit Watch(CallCounter& into) {
    counter = &into;
    handle_ = at::addGlobalCallback(
        at::RecordFunctionCallback(on_enter).scopes({at::RecordScope::FUNCTION}));
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    at::removeCallback(handle_);
    counter = nullptr;
  }

 private:
  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
};

}  // namespace

std::map<std::string, std::int64_t> operators_called(const std::function<void()>& work) {
  CallCounter mine;
  const Watch watch(mine);
  work();
  return mine.calls();
}

}  // namespace torchwatch::runner
