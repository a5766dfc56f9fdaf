#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "torchwatch/models/workload.hpp"

namespace torchwatch::runner {

// LibTorch as the passes see it, without any of its types: a pass is compiled in a second, and only
// the few files in runner/torch/ pay for LibTorch's headers. All may throw what LibTorch throws.

/// Threads within an operator; one between operators.
void set_threads(int count);

/// Lets a GPU's products and convolutions round float32 factors to tf32, for the whole process.
void allow_tf32();

bool cuda_is_available();

/// Makes LibTorch set the device up, so that what that costs is not the workload's.
void wake(models::Device device);

/// Waits until the device has done what it was given; nothing on a CPU.
void synchronise(models::Device device);

/// Time between two points of the device's own stream of work.
class DeviceTimer {
 public:
  virtual ~DeviceTimer() = default;
  virtual void start() = 0;
  virtual void stop() = 0;
  /// After `synchronise`: nanoseconds between start and stop.
  virtual std::int64_t elapsed_ns() = 0;
};
/// Null for a CPU, which has no events of its own.
std::unique_ptr<DeviceTimer> make_device_timer(models::Device device);

struct DeviceMemory {
  std::int64_t allocated = 0;  ///< bytes that LibTorch's caching allocator has given out
  std::int64_t allocated_peak = 0;
};
/// None for a CPU, and where this LibTorch (before 2.9) shows no figures without CUDA's headers.
std::optional<DeviceMemory> device_memory(models::Device device);
void reset_device_peak(models::Device device);
/// Gives cached memory back to the device, cuBLAS's workspaces included.
void release_device_caches(models::Device device);
/// Bytes of the device in use by anybody, by the CUDA runtime; none without one.
std::optional<std::int64_t> device_bytes_used(models::Device device);
/// Bytes of the device that nobody uses, likewise.
std::optional<std::int64_t> device_bytes_free(models::Device device);

/// Version, build configuration (as a digest), instruction set in use: facts for the environment.
std::map<std::string, std::string> libtorch_facts();

/// Floating-point operations of `work`, forward and backward, two for each multiply-accumulate of
/// convolutions and matrix products; everything else counts nothing. Not reentrant.
std::int64_t count_flops(const std::function<void()>& work);

struct GemmPeak {
  double flops_per_second = 0;
  int size = 0;  ///< rows and columns of the product that reached it
};
/// The fastest of square matrix products of 256 to 4,096 rows, each repeated for a while: what
/// this device can do in that precision with the threads set.
GemmPeak measure_gemm_peak(models::Device device, models::Precision precision);

/// How often each operator is called while `work` runs, on every thread, also by other operators:
/// "aten::addmm": 12. Not reentrant.
std::map<std::string, std::int64_t> operators_called(const std::function<void()>& work);

}  // namespace torchwatch::runner
