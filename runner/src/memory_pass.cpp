#include "torchwatch/runner/memory_pass.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "torchwatch/runner/process_memory.hpp"
#include "torchwatch/torch/cpu_allocator.hpp"
#include "torchwatch/torch/heap.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

constexpr int kPeakIterations = 5;

/// The levels before the workload exists; every figure is relative to them.
struct Levels {
  std::int64_t cpu = 0;
  std::int64_t device = 0;
  std::optional<std::int64_t> resident;  ///< without pages of files
  std::optional<std::int64_t> device_used;
};

std::int64_t live_bytes(const CpuAllocatorWatch& watch, models::Device device) {
  const auto memory = device_memory(device);
  return watch.live_bytes() + (memory ? memory->allocated : 0);
}

/// Takes the pages of files out of resident bytes: the kernel has no peak without them. Those of
/// libraries are mapped by the iterations that warm up, so they do not move while a peak is
/// watched.
std::optional<std::int64_t> without_files(std::optional<std::int64_t> resident) {
  const auto files = resident_file_bytes();
  if (!resident || !files) return {};
  return *resident - *files;
}

Levels read_levels(const CpuAllocatorWatch& watch, models::Device device) {
  const auto memory = device_memory(device);
  return {.cpu = watch.live_bytes(),
          .device = memory ? memory->allocated : 0,
          .resident = without_files(resident_bytes()),
          .device_used = device_bytes_used(device)};
}

void step_and_wait(models::Workload& workload, models::Device device, int iterations) {
  for (int i = 0; i < iterations; ++i) workload.step();
  synchronise(device);
}

void watch_peaks(models::Workload& workload, models::Device device, int iterations,
                 const Levels& before, CpuAllocatorWatch& watch, RunResult& result) {
  const auto level = watch.live_bytes();
  const bool resident_reset = reset_resident_peak();
  watch.reset_peak();
  reset_device_peak(device);
  step_and_wait(workload, device, iterations);

  const auto state = [&result](Metric metric, std::int64_t bytes) {
    result.values[metric] = std::max<std::int64_t>(0, bytes);
  };
  state(Metric::cpu_peak, watch.peak_bytes() - before.cpu);
  result.environment.volatile_facts["cpu_peak_over_step_level"] = watch.peak_bytes() - level;
  const auto resident = without_files(resident_peak_bytes());
  if (resident && before.resident && resident_reset) {
    state(Metric::cpu_peak_resident, *resident - *before.resident);
  }
  if (const auto memory = device_memory(device)) {
    state(Metric::device_peak, memory->allocated_peak - before.device);
  }
  const auto device_used = device_bytes_used(device);
  if (device_used && before.device_used) {
    state(Metric::device_peak_total, *device_used - *before.device_used);
  }
}

/// The heap's bytes outside LibTorch's allocator. On a CPU only: a device driver's use of the heap
/// was never examined.
std::optional<std::int64_t> other_heap_bytes(const CpuAllocatorWatch& watch,
                                             models::Device device) {
  const auto in_use = device == models::Device::cpu ? heap_bytes_in_use() : std::nullopt;
  if (!in_use) return {};
  return *in_use - watch.live_heap_bytes();
}

constexpr std::size_t kBlock = 10;
constexpr double kLeakSlopeMin = 64;
constexpr double kHeapSlopeMin = 1024;

bool every_block_rises(const std::vector<std::int64_t>& levels) {
  const std::span all(levels);
  const auto whole = levels.size() / kBlock * kBlock;
  for (std::size_t at = kBlock; at < whole; at += kBlock) {
    const auto before = std::ranges::min(all.subspan(at - kBlock, kBlock));
    if (std::ranges::min(all.subspan(at, kBlock)) <= before) return false;
  }
  return whole >= 2 * kBlock;
}

/// Whether more iterations can tell of growth, which a block that did not rise rules out.
bool may_grow(const LeakFigures& leak) {
  const auto watched = leak.live_bytes.size();
  if (watched < 2 * kBlock || watched % kBlock != 0) return true;
  return every_block_rises(leak.live_bytes) || every_block_rises(leak.heap_bytes);
}

void watch_growth(models::Workload& workload, models::Device device, int iterations,
                  const CpuAllocatorWatch& watch, RunResult& result) {
  auto& leak = result.leak.emplace();
  leak.live_bytes.reserve(static_cast<std::size_t>(iterations));
  leak.heap_bytes.reserve(static_cast<std::size_t>(iterations));
  for (int i = 0; i < iterations && may_grow(leak); ++i) {
    step_and_wait(workload, device, 1);
    leak.live_bytes.push_back(live_bytes(watch, device));
    if (const auto heap = other_heap_bytes(watch, device)) leak.heap_bytes.push_back(*heap);
  }
  leak.growth_bytes_per_iteration = leak_growth(leak.live_bytes);
  result.values[Metric::leak_growth] = leak.growth_bytes_per_iteration;
  if (leak.heap_bytes.empty()) return;
  result.values[Metric::heap_growth] = heap_growth(leak.heap_bytes);
}

/// The median of the slopes between all pairs.
double theil_sen(const std::vector<std::int64_t>& values) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back(static_cast<double>(values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

std::int64_t growth(const std::vector<std::int64_t>& levels, double slope_min) {
  if (!every_block_rises(levels)) return 0;
  const double slope = theil_sen(levels);
  return slope < slope_min ? 0 : std::llround(slope);
}

}  // namespace

void watch_memory(const BuildWorkload& build, models::Device device,
                  const protocol::Request& request, RunResult& result) {
  auto& watch = CpuAllocatorWatch::install();
  const auto before = read_levels(watch, device);
  auto workload = build();
  watch.reset_peak();
  const auto outside = workload->compile();
  if (request.benchmark.variant.backend != Backend::eager) {
    result.values[Metric::compile_peak] = watch.peak_bytes() - before.cpu;
  }
  step_and_wait(*workload, device, request.warmup);
  watch_peaks(*workload, device, std::min(kPeakIterations, request.iterations), before, watch,
              result);
  result.values[Metric::cpu_peak] += outside;
  if (request.leak_iterations == 0) return;

  watch_growth(*workload, device, request.leak_iterations, watch, result);
  workload.reset();
  release_device_caches(device);
  result.leak->retained_bytes = live_bytes(watch, device) - before.cpu - before.device;
  result.values[Metric::leak_retained] = result.leak->retained_bytes;
}

std::int64_t leak_growth(const std::vector<std::int64_t>& live_bytes) {
  return growth(live_bytes, kLeakSlopeMin);
}

std::int64_t heap_growth(const std::vector<std::int64_t>& heap_bytes) {
  return growth(heap_bytes, kHeapSlopeMin);
}

}  // namespace torchwatch::runner
