#pragma once

#include <cstdint>
#include <optional>

#include "torchwatch/models/workload.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/runner/interleave.hpp"
#include "torchwatch/torch/clock.hpp"

namespace torchwatch::runner {

/// Returns the nanoseconds, at least 1, that a number of iterations takes; the device is waited
/// for.
std::int64_t time_batch(models::Workload&, models::Device, std::int64_t iterations);

/// Whether a batch that was doubled so often need not be doubled again. `partners`: how often the
/// partner has doubled its own.
bool is_long_enough(std::int64_t ns, int doublings, std::int64_t least_ns,
                    std::optional<int> partners);

/// Returns the iterations of a batch that is long enough to time: a period of the workload,
/// doubled, which also warms up. It is doubled as often as the partner's, which is stated, where
/// that makes a half to four times the length: else two builds next to a border take batches of
/// other sizes, and the larger reads less.
std::int64_t iterations_to_fill(models::Workload&, models::Device, std::int64_t least_ns,
                                Interleave&);

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
