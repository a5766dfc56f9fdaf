#include "torchwatch/runner/memory_pass.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "fake_workload.hpp"
#include "skipped.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/models/torch.hpp"
#include "torchwatch/runner/output_figures.hpp"
#include "torchwatch/runner/process_memory.hpp"
#include "torchwatch/torch/cpu_allocator.hpp"

using namespace torchwatch;
using namespace torchwatch::runner;

namespace {

torch::Tensor bytes(std::int64_t count) {
  return torch::empty({count}, torch::kUInt8);
}

RunResult watch(const BuildWorkload& build) {
  protocol::Request request;
  request.pass = Pass::memory;
  RunResult result;
  watch_memory(build, models::Device::cpu, request, result);
  return result;
}

/// A training step of a small convolution, with what oneDNN and autograd do on the heap.
class ConvolutionStep {
 public:
  void operator()() const {
    torch::conv2d(input_, weight_, {}, 1, 1).relu().sum().backward();
    weight_.mutable_grad().reset();
  }

 private:
  torch::Tensor input_ = torch::rand({4, 8, 16, 16});
  torch::Tensor weight_ = torch::rand({16, 8, 3, 3}, torch::requires_grad());
};

RunResult watch_step(std::function<void()> step) {
  return watch([&] { return std::make_unique<FakeWorkload>(step); });
}

}  // namespace

TEST_CASE("a workload that gives everything back neither grows nor retains, and is watched less") {
  const auto result = watch_step([] { bytes(1 << 20); });
  REQUIRE(result.values.at(Metric::leak_growth) == 0);
  REQUIRE(result.values.at(Metric::heap_growth) == 0);
  REQUIRE(result.values.at(Metric::leak_retained) == 0);
  REQUIRE(result.leak->live_bytes.size() < 40);
  REQUIRE(result.leak->heap_bytes.size() == result.leak->live_bytes.size());
}

TEST_CASE("the peak of the allocator is exact to the byte") {
  const auto result = watch_step([] {
    const auto kept = bytes(100'003);
    bytes(7);
    bytes(50'001);
  });
  REQUIRE(result.values.at(Metric::cpu_peak) == 150'004);
}

TEST_CASE("the peak counts what the workload holds all the time") {
  const auto result = watch([] {
    const auto parameters = bytes(1'000'000);
    return std::make_unique<FakeWorkload>([parameters] { bytes(10); });
  });
  REQUIRE(result.values.at(Metric::cpu_peak) == 1'000'010);
  REQUIRE(result.values.at(Metric::leak_retained) == 0);
}

TEST_CASE("bytes kept in each iteration are a growth of exactly as many, and none of the heap") {
  static std::vector<torch::Tensor> leaked;
  const auto kept = GENERATE(64, 4096, 1 << 20);
  const auto result = watch_step([kept] { leaked.push_back(bytes(kept)); });
  REQUIRE(result.values.at(Metric::leak_growth) == kept);
  REQUIRE(result.leak->growth_bytes_per_iteration == kept);
  REQUIRE(result.leak->live_bytes.size() == 40);
  REQUIRE(result.values.at(Metric::heap_growth) == 0);
  leaked.clear();
}

TEST_CASE("what stops to grow is watched until it did, at a block's end") {
  std::vector<torch::Tensor> kept;
  int iteration = 0;
  const auto result = watch_step([&] {
    if (++iteration <= 30) kept.push_back(bytes(4096));  // 5 of them while the peak is watched
  });
  REQUIRE(result.values.at(Metric::leak_growth) == 0);
  REQUIRE(result.leak->live_bytes.size() % 10 == 0);
  REQUIRE(result.leak->live_bytes.size() > 20);
}

TEST_CASE("what malloc gave out and did not get back is growth of the heap, within a quarter") {
  const auto computes = GENERATE(false, true);
  const auto kept = GENERATE(1 << 10, 4 << 10, 64 << 10, 1 << 20);
  CAPTURE(computes, kept);
  const ConvolutionStep compute;
  std::vector<std::unique_ptr<void, decltype(&std::free)>> leaked;
  const auto result = watch_step([&] {
    if (computes) compute();
    leaked.emplace_back(std::malloc(static_cast<std::size_t>(kept)), &std::free);
  });
  REQUIRE(result.values.at(Metric::heap_growth) == Approx(kept).epsilon(0.25));
  REQUIRE(result.values.at(Metric::leak_growth) == 0);
  REQUIRE(result.values.at(Metric::leak_retained) == 0);
}

TEST_CASE("leaks of both kinds at once are distinguished") {
  std::vector<torch::Tensor> tensors;
  std::vector<std::unique_ptr<void, decltype(&std::free)>> blocks;
  const auto result = watch_step([&] {
    tensors.push_back(bytes(1 << 20));
    blocks.emplace_back(std::malloc(64 << 10), &std::free);
  });
  REQUIRE(result.values.at(Metric::leak_growth) == 1 << 20);
  REQUIRE(result.values.at(Metric::heap_growth) == Approx(64 << 10).epsilon(0.25));
}

TEST_CASE("a block kept for ever is retained and no growth") {
  static torch::Tensor kept;
  const auto result = watch_step([] {
    if (!kept.defined()) kept = bytes(8'519'680);
  });
  REQUIRE(result.values.at(Metric::leak_growth) == 0);
  REQUIRE(result.values.at(Metric::leak_retained) == 8'519'680);
  kept.reset();
}

TEST_CASE("touched memory shows in the resident peak") {
  const auto result = watch_step([] { bytes(64 << 20).fill_(1); });
  const auto peak = result.values.find(Metric::cpu_peak_resident);
  if (peak == result.values.end()) {
    test::say_skipped("the kernel does not let a process reset its resident peak here");
    return;
  }
  REQUIRE(peak->second > 60 << 20);
}

TEST_CASE("pages of a file that a workload maps are not in the resident peak") {
  constexpr std::size_t kBytes = 64 << 20;
  const test::TemporaryFolder folder;
  const auto path = folder.write("library", std::string(kBytes, 'x'));
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  const volatile char* mapped = nullptr;
  const auto result = watch_step([&] {
    if (mapped != nullptr) return;
    mapped = static_cast<const char*>(mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file, 0));
    for (std::size_t at = 0; at < kBytes; at += 4096) REQUIRE(mapped[at] == 'x');
  });
  REQUIRE(resident_file_bytes().value() >= static_cast<std::int64_t>(kBytes));
  munmap(const_cast<char*>(mapped), kBytes);
  close(file);
  const auto peak = result.values.find(Metric::cpu_peak_resident);
  if (peak == result.values.end()) {
    test::say_skipped("the kernel does not let a process reset its resident peak here");
    return;
  }
  REQUIRE(peak->second < 16 << 20);
}

TEST_CASE("raw allocations go through the watch and back") {
  auto& allocator = CpuAllocatorWatch::install();
  const auto before = allocator.live_bytes();
  auto* libtorchs = c10::GetCPUAllocator();
  void* block = libtorchs->raw_allocate(12'345);
  REQUIRE(allocator.live_bytes() - before == 12'345);
  libtorchs->raw_deallocate(block);
  REQUIRE(allocator.live_bytes() == before);
}

TEST_CASE("outputs that rounding or random numbers move are not compared, by name and mode") {
  const auto is_compared = [](const char* workload, Mode mode, Precision precision = {}) {
    return has_comparable_outputs({workload, {Device::cpu, mode}, {.precision = precision}});
  };
  for (const auto mode : {Mode::train, Mode::infer}) {
    CHECK(is_compared("resnet18", mode));
    CHECK_FALSE(is_compared("resnet50_quantized_qat", mode));
    CHECK_FALSE(is_compared("tacotron2", mode));
    CHECK_FALSE(is_compared("resnet18", mode, Precision::amp));
  }
  CHECK(is_compared("vision_maskrcnn", Mode::infer));
  CHECK_FALSE(is_compared("vision_maskrcnn", Mode::train));
}

TEST_CASE("outputs that cannot be computed take no figure with them, and say why there are none") {
  RunResult result;
  result.values[Metric::cpu_peak] = 4096;
  const auto compute = []() -> std::vector<OutputFigures> {
    torch::zeros({2, 3}).matmul(torch::zeros({2, 3}));
    return {};
  };
  add_outputs(compute, result);
  CHECK(result.status == RunStatus::ok);
  CHECK(result.values.size() == 1);
  CHECK(result.values.at(Metric::cpu_peak) == 4096);
  CHECK(result.outputs.empty());
  CHECK_THAT(result.reason, Catch::StartsWith("its outputs could not be computed: mat1 and mat2"));
}
