// A CUDA driver without a GPU, that answers as the test has set.
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

}  // extern "C"
