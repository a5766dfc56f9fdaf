#include "torchwatch/torch/operator_calls.hpp"

#include <mutex>

#include "operator_watch.hpp"
#include "torchwatch/models/torch.hpp"
#include "torchwatch/torch/clock.hpp"

namespace torchwatch::runner {
namespace {

/// Keeps calls as they end; autograd's threads call as well.
class CallKeeper {
 public:
  explicit CallKeeper(std::size_t calls_max) : calls_max_(calls_max) {}
  void add(OperatorCall call) {
    const std::scoped_lock lock(mutex_);
    if (kept_.calls.size() < calls_max_) {
      kept_.calls.push_back(std::move(call));
    } else {
      ++kept_.left_out;
    }
  }
  OperatorCalls take() { return std::move(kept_); }

 private:
  const std::size_t calls_max_;
  std::mutex mutex_;
  OperatorCalls kept_;
};

CallKeeper* keeper = nullptr;

/// Lives as long as the call.
struct Begun final : at::ObserverContext {
  std::int64_t at_ns = now_ns();
};

std::unique_ptr<at::ObserverContext> on_enter(const at::RecordFunction& call) {
  // Other names are marked ranges or nodes of autograd.
  if (!call.operator_name()) return nullptr;
  return std::make_unique<Begun>();
}

void on_exit(const at::RecordFunction& call, at::ObserverContext* context) {
  if (context == nullptr) return;
  keeper->add({.name = call.name(),
               .thread = call.threadId(),
               .begin_ns = static_cast<Begun*>(context)->at_ns,
               .end_ns = now_ns()});
}

}  // namespace

OperatorCalls operators_timed(const std::function<void()>& work, std::size_t calls_max) {
  CallKeeper mine(calls_max);
  const OperatorWatch watch(keeper, mine, at::RecordFunctionCallback(on_enter, on_exit));
  const auto begin_ns = now_ns();
  work();
  const auto end_ns = now_ns();
  auto calls = mine.take();
  calls.begin_ns = begin_ns;
  calls.end_ns = end_ns;
  return calls;
}

}  // namespace torchwatch::runner
