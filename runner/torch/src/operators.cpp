#include <mutex>
#include <set>

#include "operator_watch.hpp"
#include "torchwatch/models/torch.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

/// Counts calls by operator; autograd's threads call as well.
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

CallCounter* counter = nullptr;

std::unique_ptr<at::ObserverContext> on_enter(const at::RecordFunction& call) {
  // Other names are marked ranges or nodes of autograd.
  if (call.operator_name()) counter->add(call.name());
  return nullptr;
}

}  // namespace

std::map<std::string, std::int64_t> operators_called(const std::function<void()>& work) {
  CallCounter mine;
  const OperatorWatch watch(counter, mine, at::RecordFunctionCallback(on_enter));
  work();
  return mine.calls();
}

std::map<std::string, std::int64_t> operators_registered() {
  auto& dispatcher = c10::Dispatcher::singleton();
  std::set<std::string> names;
  for (const auto& known : dispatcher.getAllOpNames()) {
    // Without a schema it is only an implementation of what another library would bring.
    if (dispatcher.findSchema(known)) names.insert(known.name);
  }
  std::map<std::string, std::int64_t> counts;
  for (const auto& name : names) ++counts[name.substr(0, name.find("::"))];
  return counts;
}

}  // namespace torchwatch::runner
