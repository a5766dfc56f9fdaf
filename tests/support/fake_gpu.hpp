#pragma once

#include "fake_cupti.hpp"
#include "torchwatch/activity/shared_library.hpp"

namespace torchwatch::test {

/// The state of a fake library, which is loaded for this.
template <typename State>
State& state_of(const char* path, const char* function) {
  const auto library = activity::SharedLibrary::open({path});
  return *library.value().find<State*()>(function)();
}

/// As a healthy machine's.
inline FakeCupti& fresh_cupti(const char* path) {
  auto& state = state_of<FakeCupti>(path, "fake_cupti_state");
  state = {};
  return state;
}
inline FakeCuda& fresh_cuda() {
  auto& state = state_of<FakeCuda>(FAKE_CUDA, "fake_cuda_state");
  state = {};
  return state;
}

}  // namespace torchwatch::test
