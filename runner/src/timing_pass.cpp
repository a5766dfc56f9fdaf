#include "torchwatch/runner/timing_pass.hpp"

#include <algorithm>
#include <cmath>

#include "samples.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

/// Waits until the time since `begin` has grown by that share.
void wait_for_share(double share, std::int64_t begin) {
  if (share == 0) return;
  const auto since = now_ns() - begin;
  const auto until = begin + since + std::llround(share * static_cast<double>(since));
  while (now_ns() < until) {
  }
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

  const auto per_sample = iterations_to_fill(workload, device, request.batch_below_ns, interleave);
  timings.iterations_per_sample = per_sample;
  const auto timer = make_device_timer(device);
  interleave.hand_over();
  SampleCount samples(request);
  while (!samples.is_enough()) {
    interleave.acquire();
    if (timer) timer->start();
    const auto begin = now_ns();
    for (std::int64_t k = 0; k < per_sample; ++k) workload.step();
    if (timer) timer->stop();
    synchronise(device);
    wait_for_share(request.planted_slowdown, begin);
    const auto elapsed = now_ns() - begin;
    samples.add(elapsed);
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
