// Linked into a runner, it makes one operator slower: each of its calls waits behind its work. The
// environment names the operator and the nanoseconds; without it nothing is slower. For
// planted_operators.py, see README.md.

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace {

/// A key that wraps every operator and that nothing else uses.
constexpr auto kKey = c10::DispatchKey::TESTING_ONLY_GenericWrapper;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::chrono::nanoseconds delay() {
  static const std::chrono::nanoseconds kDelay(
      std::atoll(variable("TORCHWATCH_SLOWER_NS").c_str()));
  return kDelay;
}

void slower(const c10::OperatorHandle& called, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  using Clock = std::chrono::steady_clock;
  called.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey), stack);
  const auto end = Clock::now() + delay();
  while (Clock::now() < end) {
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericWrapper, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericWrapper, library) {
  const auto planted = variable("TORCHWATCH_SLOW_OPERATOR");
  for (const auto& each : c10::Dispatcher::singleton().getAllOpNames()) {
    if (each.name != planted) continue;
    const auto name = each.overload_name.empty() ? each.name : each.name + "." + each.overload_name;
    library.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&slower>());
  }
  c10::impl::tls_set_dispatch_key_included(kKey, true);
}
