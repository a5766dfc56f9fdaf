#pragma once

#include <cstdint>

#include "torchwatch/models/workload.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/torch/clock.hpp"

namespace torchwatch::runner {

/// Returns the nanoseconds, at least 1, that a number of iterations takes; the device is waited
/// for.
std::int64_t time_batch(models::Workload&, models::Device, std::int64_t iterations);

/// Doubles a batch until it is long enough to time; this also warms up.
std::int64_t iterations_to_fill(models::Workload&, models::Device, std::int64_t least_ns);

/// Says when a run has as many samples as its request asks for: `iterations` of them, or
/// `iterations_min` and `enough_ns` of measured time, or 15 s of it.
class SampleCount {
 public:
  explicit SampleCount(const protocol::Request& request) : request_(request) {}
  void add(std::int64_t measured_ns);
  bool is_enough() const;

 private:
  const protocol::Request& request_;
  int samples_ = 0;
  std::int64_t measured_ns_ = 0;
};

}  // namespace torchwatch::runner
