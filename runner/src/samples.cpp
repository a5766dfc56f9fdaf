#include "samples.hpp"

#include <algorithm>

#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

constexpr std::int64_t kMeasuredNsMax = 15'000'000'000;

}  // namespace

std::int64_t time_batch(models::Workload& workload, models::Device device,
                        std::int64_t iterations) {
  const auto begin = now_ns();
  for (std::int64_t i = 0; i < iterations; ++i) workload.step();
  synchronise(device);
  return std::max<std::int64_t>(1, now_ns() - begin);
}

bool is_long_enough(std::int64_t ns, int doublings, std::int64_t least_ns,
                    std::optional<int> partners) {
  if (!partners) return ns >= least_ns;
  return doublings < *partners ? ns >= 4 * least_ns : ns >= least_ns / 2;
}

std::int64_t iterations_to_fill(models::Workload& workload, models::Device device,
                                std::int64_t least_ns, Interleave& interleave) {
  const auto partners = interleave.partners_doublings();
  int doublings = 0;
  for (; doublings < protocol::Interleave::kDoublingsMax; ++doublings) {
    const auto ns = time_batch(workload, device, workload.period() << doublings);
    if (is_long_enough(ns, doublings, least_ns, partners)) break;
  }
  interleave.state_doublings(doublings);
  return workload.period() << doublings;
}

void SampleCount::add(std::int64_t measured_ns) {
  ++samples_;
  measured_ns_ += measured_ns;
}

bool SampleCount::is_enough() const {
  if (samples_ >= request_.iterations) return true;
  if (measured_ns_ >= kMeasuredNsMax) return samples_ >= 1;
  return measured_ns_ >= request_.enough_ns && samples_ >= request_.iterations_min;
}

}  // namespace torchwatch::runner
