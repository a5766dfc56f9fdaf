#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "torchwatch/activity/breakdown.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::activity {

/// The records of every device, and the number of those known to be missing.
struct Recording {
  std::vector<Activity> activities;
  std::int64_t dropped = 0;         ///< records that CUPTI counts as lost
  std::int64_t unreadable = 0;      ///< buffers that could not be read to their end
  std::int64_t never_returned = 0;  ///< buffers with records that CUPTI kept
};

/// Names as dlopen takes them, tried one after the other.
struct Libraries {
  std::vector<std::string> cuda = {"libcuda.so.1"};
  std::vector<std::string> cupti = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
};

struct TraceLimits {
  std::size_t buffers = 256;  ///< 4 MiB each, for some 19,000 kernels; more records are dropped
  /// The longest wait for a buffer with records once the trace has ended.
  std::chrono::milliseconds late_buffer{1000};
};

/// Records the work of every device by CUPTI's activity records while it lives; one trace at a time
/// per process. CUPTI slows a process down even afterwards, so use a process that ends soon.
class Trace {
 public:
  /// Begins a trace; call it before anything initialises the device. Errors: unavailable, saying
  /// what to do: no driver, no device, no CUPTI, another profiler, no permission, a kind of device
  /// that CUPTI does not record; conflict: another trace lives.
  static Result<std::unique_ptr<Trace>> begin(const Libraries& libraries = {},
                                              TraceLimits limits = {});
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

  /// The time by the clock of the records, or 0 if CUPTI reports none. Costs some 50 ns.
  std::int64_t now_ns() const;
  /// Discards the records so far. The device must be idle: a running kernel would be lost. Errors:
  /// unavailable.
  Status discard();
  /// Ends the recording and returns it; the device must be idle here too. Names in it are valid as
  /// long as the process lives. Errors: unavailable.
  Result<Recording> end();
  /// CUPTI_API_VERSION of the library in use: 130001 is CUDA 13.0 Update 1.
  std::uint32_t cupti_version() const;

 private:
  struct State;
  explicit Trace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Checks that the NVIDIA driver finds a GPU, without initialising a device. CUPTI cannot be asked:
/// without a driver it answers some calls and fails others with "unknown". Errors: unavailable,
/// saying what to do: no driver, the toolkit's stub, no device, a device that does not fit.
Status find_cuda_device(const std::vector<std::string>& library_names);

}  // namespace torchwatch::activity
