#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "torchwatch/models/workload.hpp"

namespace torchwatch::runner {

// LibTorch as the passes see it, without any of its types: a pass compiles in a second, and only
// the few files in runner/torch/ pay for LibTorch's headers. All may throw what LibTorch throws.

/// Sets the number of threads within an operator, and one between operators.
void set_threads(int count);

/// Lets a GPU's products and convolutions round float32 factors to tf32, for the whole process.
void allow_tf32();

/// Has every thread that computes on the CPU count numbers next to zero as zero. Call it after
/// `set_threads`. Returns false, and changes nothing, where the processor cannot.
bool flush_denormals();

bool cuda_is_available();

/// Makes LibTorch initialise the device, so that its cost is not part of the workload's.
void initialize(models::Device device);

/// Waits until the device has done its work; returns at once on a CPU.
void synchronise(models::Device device);

/// Measures the time between two points of the device's own stream of work.
class DeviceTimer {
 public:
  virtual ~DeviceTimer() = default;
  virtual void start() = 0;
  virtual void stop() = 0;
  /// After `synchronise`: nanoseconds between start and stop.
  virtual std::int64_t elapsed_ns() = 0;
};
/// Returns null for a CPU, which has no events of its own.
std::unique_ptr<DeviceTimer> make_device_timer(models::Device device);

struct DeviceMemory {
  std::int64_t allocated = 0;  ///< bytes that LibTorch's caching allocator has given out
  std::int64_t allocated_peak = 0;
};
/// Empty for a CPU, and for a LibTorch before 2.9, which shows no figures without CUDA's headers.
std::optional<DeviceMemory> device_memory(models::Device device);
void reset_device_peak(models::Device device);
/// Returns cached memory to the device, including cuBLAS's workspaces.
void release_device_caches(models::Device device);
/// Bytes of the device in use by any process, by the CUDA runtime; empty without one.
std::optional<std::int64_t> device_bytes_used(models::Device device);
/// Bytes of the device that no process uses, by the CUDA runtime; empty without one.
std::optional<std::int64_t> device_bytes_free(models::Device device);

/// Facts for the environment: version, build configuration (as a digest), instruction set in use.
std::map<std::string, std::string> libtorch_facts();

/// Counts the floating-point operations of `work`, forward and backward: two for each
/// multiply-accumulate of convolutions and matrix products, none for anything else. Not reentrant.
std::int64_t count_flops(const std::function<void()>& work);

struct GemmPeak {
  double flops_per_second = 0;
  int size = 0;  ///< rows and columns of the product that reached it
};
/// Measures the fastest of square matrix products of 256 to 4,096 rows, each repeated for a while:
/// the peak of this device in that precision with the threads set.
GemmPeak measure_gemm_peak(models::Device device, models::Precision precision);

/// Counts the calls of each operator while `work` runs, on every thread, including calls by other
/// operators: "aten::addmm": 12. Not reentrant.
std::map<std::string, std::int64_t> operators_called(const std::function<void()>& work);

/// How many operators the dispatcher of this build knows, by namespace: "aten": 1,588. Overloads of
/// one name are one operator, as operators_called counts them.
std::map<std::string, std::int64_t> operators_registered();

}  // namespace torchwatch::runner
