#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "torchwatch/activity/breakdown.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::activity {

/// All that was recorded, of every device, and what is known to be missing.
struct Recording {
  std::vector<Activity> activities;
  std::int64_t dropped = 0;         ///< records that CUPTI counts as lost
  std::int64_t unreadable = 0;      ///< buffers that could not be read to their end
  std::int64_t never_returned = 0;  ///< buffers with records that CUPTI kept
};

/// Names as dlopen takes them, tried in turn.
struct Libraries {
  std::vector<std::string> cuda = {"libcuda.so.1"};
  std::vector<std::string> cupti = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
};

struct TraceLimits {
  std::size_t buffers = 256;  ///< of 4 MiB, each for some 19,000 kernels; more records are dropped
  /// How long a buffer with records is waited for once the trace has ended.
  std::chrono::milliseconds late_buffer{1000};
};

/// Records what every device does, by CUPTI's activity records, as long as it lives; one at a time
/// in a process. CUPTI slows a process down even afterwards: use one that is thrown away.
class Trace {
 public:
  /// Call it before anything sets the device up. Errors: unavailable, saying what to do: no driver,
  /// no device, no CUPTI, another profiler, no permission, a kind of device that CUPTI does not
  /// record; conflict: another trace lives.
  static Result<std::unique_ptr<Trace>> begin(const Libraries& libraries = {},
                                              TraceLimits limits = {});
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

  /// Time by the clock of the records, 0 where CUPTI tells none. Costs some 50 ns.
  std::int64_t now_ns() const;
  /// Forgets what was recorded so far. The device must have nothing to do: a kernel that runs would
  /// be lost. Errors: unavailable.
  Status discard();
  /// Ends the recording and hands it out; again, the device must have nothing to do. Names in it
  /// are valid as long as the process. Errors: unavailable.
  Result<Recording> end();
  /// CUPTI_API_VERSION of the library in use: 130001 is CUDA 13.0 Update 1.
  std::uint32_t cupti_version() const;

 private:
  struct State;
  explicit Trace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace torchwatch::activity
