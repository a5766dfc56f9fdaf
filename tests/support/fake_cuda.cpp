// A CUDA driver without a GPU, that answers as the test has set.
#include <cstdio>

#include "fake_cupti.hpp"

namespace {

torchwatch::test::FakeCuda state;

}  // namespace

extern "C" {

torchwatch::test::FakeCuda* fake_cuda_state() {
  return &state;
}

int cuInit(unsigned) {
  return state.initialise_answer;
}

int cuDeviceGetCount(int* count) {
  *count = state.devices;
  return state.count_answer;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < state.devices ? 0 : 101;
}

int cuDeviceGetPCIBusId(char* text, int size, int) {
  std::snprintf(text, static_cast<std::size_t>(size), "%s", state.place);
  return 0;
}

}  // extern "C"
