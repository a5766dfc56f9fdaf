#include "torchwatch/runner/timing_pass.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "torchwatch/runner/libtorch.hpp"

namespace torchwatch::runner {
namespace {

constexpr std::int64_t kMeasuredNsMax = 15'000'000'000;
constexpr std::int64_t kIterationsPerSampleMax = 1 << 20;

/// steady_clock is CLOCK_MONOTONIC on Linux.
std::int64_t now_ns() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count();
}

/// Waits until the time since `begin` has grown by that share.
void wait_for_share(double share, std::int64_t begin) {
  if (share == 0) return;
  const auto since = now_ns() - begin;
  const auto until = begin + since + std::llround(share * static_cast<double>(since));
  while (now_ns() < until) {
  }
}

std::int64_t time_batch(models::Workload& workload, models::Device device,
                        std::int64_t iterations) {
  const auto begin = now_ns();
  for (std::int64_t i = 0; i < iterations; ++i) workload.step();
  synchronise(device);
  return std::max<std::int64_t>(1, now_ns() - begin);
}

/// Doubles the batch until it is long enough to time; this also warms up.
std::int64_t find_iterations_per_sample(models::Workload& workload, models::Device device,
                                        std::int64_t batch_below_ns) {
  std::int64_t iterations = 1;
  while (iterations < kIterationsPerSampleMax &&
         time_batch(workload, device, iterations) < batch_below_ns) {
    iterations *= 2;
  }
  return iterations;
}

}  // namespace

std::int64_t time_compilation(models::Workload& workload) {
  const auto begin = now_ns();
  workload.compile();
  return std::max<std::int64_t>(1, now_ns() - begin);
}

std::int64_t throughput_of(int batch, std::int64_t ns) {
  constexpr double kNanoseconds = 1e12;  // in 1,000 s
  constexpr double kMost = 1e18;
  const double items = batch * kNanoseconds / static_cast<double>(ns);
  return std::max<std::int64_t>(1, std::llround(std::min(items, kMost)));
}

Timings time_iterations(models::Workload& workload, models::Device device,
                        const protocol::Request& request, Interleave interleave) {
  Timings timings;
  timings.first_iteration_ns = time_batch(workload, device, 1);
  for (int i = 1; i < request.warmup; ++i) workload.step();
  synchronise(device);

  const auto per_sample = find_iterations_per_sample(workload, device, request.batch_below_ns);
  timings.iterations_per_sample = per_sample;
  const auto timer = make_device_timer(device);
  const auto enough = [&](std::size_t samples, std::int64_t measured_ns) {
    if (measured_ns >= kMeasuredNsMax) return samples >= 1;
    return measured_ns >= request.enough_ns &&
           std::cmp_greater_equal(samples, request.iterations_min);
  };
  interleave.hand_over();
  std::int64_t measured_ns = 0;
  for (int i = 0; i < request.iterations && !enough(timings.samples_ns.size(), measured_ns); ++i) {
    interleave.acquire();
    if (timer) timer->start();
    const auto begin = now_ns();
    for (std::int64_t k = 0; k < per_sample; ++k) workload.step();
    if (timer) timer->stop();
    synchronise(device);
    wait_for_share(request.planted_slowdown, begin);
    const auto elapsed = now_ns() - begin;
    measured_ns += elapsed;
    timings.samples_ns.push_back(std::max<std::int64_t>(1, elapsed / per_sample));
    if (timer) {
      timings.device_samples_ns.push_back(
          std::max<std::int64_t>(1, timer->elapsed_ns() / per_sample));
    }
    interleave.hand_over();
  }
  interleave.finish();
  timings.handovers = interleave.handovers();
  timings.handovers_not_idle = interleave.handovers_not_idle();
  return timings;
}

}  // namespace torchwatch::runner
