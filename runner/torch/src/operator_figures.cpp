#include "torchwatch/torch/operator_figures.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "operator_watch.hpp"
#include "torchwatch/models/torch.hpp"
#include "torchwatch/records/run_result.hpp"
#include "torchwatch/torch/clock.hpp"
#include "torchwatch/torch/cpu_allocator.hpp"

namespace torchwatch::runner {
namespace {

/// Ranges that somebody marked and nodes of autograd are recorded as well, and have other names;
/// what they take counts to the operator around them. LibTorch's own word on it copies strings.
bool is_operator(std::string_view name) {
  return name.find("::") != std::string_view::npos && name.find(' ') == std::string_view::npos &&
         !name.starts_with("autograd::");
}

/// Numbers operators in the order of their first call. Thread-safe.
class Names {
 public:
  int number_of(std::string_view name) {
    const std::scoped_lock lock(mutex_);
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) return known->second;
    const auto& kept = *names_.emplace_back(std::make_unique<std::string>(name));
    return numbers_[kept] = static_cast<int>(names_.size()) - 1;
  }
  const std::string& of(int number) const { return *names_.at(static_cast<std::size_t>(number)); }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::string>> names_;
  std::unordered_map<std::string_view, int> numbers_;  ///< views of names_
};

/// An operator in progress.
struct Frame {
  int number = 0;
  std::int64_t begin_ns = 0;
  std::int64_t inner_ns = 0;  ///< of operators that it calls
};
thread_local std::vector<Frame> frames;

/// Adds times up as calls end; autograd's threads call as well.
class TimeSums {
 public:
  Names names;

  void add(int number, std::int64_t self_ns) {
    const std::scoped_lock lock(mutex_);
    const auto index = static_cast<std::size_t>(number);
    if (sums_.size() <= index) sums_.resize(index + 1);
    ++sums_[index].calls;
    sums_[index].self_ns += self_ns;
  }
  OperatorTimes by_name() const {
    OperatorTimes times;
    for (std::size_t i = 0; i < sums_.size(); ++i) times[names.of(static_cast<int>(i))] = sums_[i];
    return times;
  }

 private:
  std::mutex mutex_;
  std::vector<OperatorTime> sums_;
};

TimeSums* time_sums = nullptr;
thread_local std::int64_t outermost_ns = 0;  ///< of operators that no other calls

std::unique_ptr<at::ObserverContext> begin_timing(const at::RecordFunction& call) {
  if (!is_operator(call.name())) return nullptr;
  const int number = time_sums->names.number_of(call.name());
  frames.push_back({.number = number, .begin_ns = now_ns(), .inner_ns = 0});
  return nullptr;
}

void end_timing(const at::RecordFunction& call, at::ObserverContext*) {
  const auto end = now_ns();
  if (!is_operator(call.name())) return;
  const auto frame = frames.back();
  frames.pop_back();
  const auto whole = end - frame.begin_ns;
  (frames.empty() ? outermost_ns : frames.back().inner_ns) += whole;
  time_sums->add(frame.number, whole - frame.inner_ns);
}

Names* owner_names = nullptr;
/// Whose the bytes are that this thread is given, innermost last; 0 is outside.
thread_local std::vector<int> owners;

/// They return memory that was not there, and nothing else.
bool only_provides_memory(std::string_view name) {
  constexpr std::array kProviders{"aten::empty", "aten::new_empty", "aten::resize_"};
  return std::ranges::any_of(kProviders, [&](const char* each) { return name.starts_with(each); });
}

int current_owner() {
  return owners.empty() ? 0 : owners.back();
}

std::unique_ptr<at::ObserverContext> begin_owning(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  if (!is_operator(name)) return nullptr;
  owners.push_back(only_provides_memory(name) ? current_owner() : owner_names->number_of(name));
  return nullptr;
}

void end_owning(const at::RecordFunction& call, at::ObserverContext*) {
  if (is_operator(call.name())) owners.pop_back();
}

/// Has the allocator ask whose its bytes are while it lives.
class OwnerWatch {
 public:
  explicit OwnerWatch(CpuAllocatorWatch& allocator) : allocator_(allocator) {
    allocator_.ask_owner(current_owner);
  }
  OwnerWatch(const OwnerWatch&) = delete;
  OwnerWatch& operator=(const OwnerWatch&) = delete;
  ~OwnerWatch() { allocator_.ask_owner(nullptr); }

 private:
  CpuAllocatorWatch& allocator_;
};

}  // namespace

OperatorTimes operator_times(const std::function<void()>& work) {
  TimeSums sums;
  const OperatorWatch watch(time_sums, sums, at::RecordFunctionCallback(begin_timing, end_timing));
  outermost_ns = 0;
  const auto begin = now_ns();
  work();
  const auto whole = now_ns() - begin;
  auto times = sums.by_name();
  times[kOutsideOperators] = {.calls = 0,
                              .self_ns = std::max<std::int64_t>(0, whole - outermost_ns)};
  return times;
}

std::map<std::string, OperatorBytes> operator_bytes(const std::function<void()>& work, int times) {
  Names names;
  names.number_of(kOutsideOperators);
  const OperatorWatch watch(owner_names, names,
                            at::RecordFunctionCallback(begin_owning, end_owning));
  auto& allocator = CpuAllocatorWatch::install();
  const OwnerWatch owning(allocator);
  work();
  const auto before = allocator.owned();
  for (int i = 0; i < times; ++i) work();
  std::map<std::string, OperatorBytes> bytes;
  for (const auto& [number, owned] : allocator.owned()) {
    const auto found = before.find(number);
    const auto was = found == before.end() ? CpuAllocatorWatch::Owned() : found->second;
    bytes[names.of(number)] = {.allocated = owned.allocated - was.allocated,
                               .kept = owned.live - was.live};
  }
  return bytes;
}

}  // namespace torchwatch::runner
