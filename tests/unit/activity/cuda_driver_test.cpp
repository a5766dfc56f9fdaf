#include <catch2/catch.hpp>

#include "fake_gpu.hpp"
#include "torchwatch/activity/trace.hpp"

using namespace torchwatch;
using namespace torchwatch::activity;

namespace {

std::string refusal(const char* library) {
  const auto found = find_cuda_device({library});
  REQUIRE_FALSE(found.has_value());
  REQUIRE(found.error().code == ErrorCode::unavailable);
  return found.error().message;
}

bool says(const std::string& text, const char* what) {
  INFO(text);
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a driver with a GPU is enough") {
  test::fresh_cuda();
  REQUIRE(find_cuda_device({FAKE_CUDA}).has_value());
}

TEST_CASE("a machine without a driver says so with the loader's reason") {
  const auto text = refusal("libcuda_of_nobody.so.1");
  CHECK(says(text, "no NVIDIA driver found: cannot load libcuda_of_nobody.so.1"));
  CHECK(says(text, "cannot open shared object file"));
}

TEST_CASE("a library that is not a driver is named") {
  CHECK(says(refusal(FAKE_LIBRARY), "is not a CUDA driver"));
}

TEST_CASE("an answer of the driver is reported with what to do") {
  auto& cuda = test::fresh_cuda();
  const auto answer = [&](int code) {
    cuda.initialise_answer = code;
    return refusal(FAKE_CUDA);
  };
  CHECK(says(answer(34), "the toolkit's stub"));
  CHECK(says(answer(100), "the driver finds no GPU"));
  CHECK(says(answer(304), "/dev/nvidia*"));
  CHECK(says(answer(802), "nvidia-fabricmanager"));
  CHECK(says(answer(803), "restart the machine"));
  CHECK(says(answer(804), "compatibility package"));
  CHECK(says(answer(999), "see what nvidia-smi says (cuInit: CUDA error 999)"));
}

TEST_CASE("a driver that counts no device, or cannot count, is refused") {
  auto& cuda = test::fresh_cuda();
  cuda.devices = 0;
  CHECK(says(refusal(FAKE_CUDA), "the driver finds no GPU"));
  cuda.devices = 1;
  cuda.count_answer = 3;
  CHECK(says(refusal(FAKE_CUDA), "cuDeviceGetCount: CUDA error 3"));
}
