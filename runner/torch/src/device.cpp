#include <dlfcn.h>

#include "torchwatch/models/torch.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

constexpr c10::DeviceIndex kFirst = 0;

/// Finds a function of a library that only a CUDA build has loaded; null elsewhere. It is found by
/// name, because its header does not compile without the CUDA toolkit.
template <typename Function>
Function* loaded(const char* symbol) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, symbol));
}

class CudaEventTimer final : public DeviceTimer {
 public:
  void start() override { begin_.record(stream()); }
  void stop() override { end_.record(stream()); }
  std::int64_t elapsed_ns() override {
    constexpr double kNanosecondsPerMillisecond = 1e6;
    return std::llround(begin_.elapsedTime(end_) * kNanosecondsPerMillisecond);
  }

 private:
  static c10::Stream stream() {
    const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
    return guard.getStream(c10::Device(c10::DeviceType::CUDA, kFirst));
  }

  // The default flag switches an event's timing off.
  c10::Event begin_{c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT};
  c10::Event end_{c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT};
};

struct WholeDevice {
  std::int64_t free = 0;
  std::int64_t total = 0;
};

/// Asks the CUDA runtime; empty without one.
std::optional<WholeDevice> whole_device(models::Device device) {
  if (device == models::Device::cpu) return {};
  auto* memory_info = loaded<int(std::size_t*, std::size_t*)>("cudaMemGetInfo");
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (memory_info == nullptr || memory_info(&free_bytes, &total_bytes) != 0) return {};
  return WholeDevice{.free = static_cast<std::int64_t>(free_bytes),
                     .total = static_cast<std::int64_t>(total_bytes)};
}

}  // namespace

void set_threads(int count) {
  at::set_num_threads(count);
  at::set_num_interop_threads(1);
}

bool flush_denormals() {
  if (!at::globalContext().setFlushDenormal(true)) return false;
  // The processor keeps this for each thread, and the threads within operators live on.
  at::parallel_for(0, at::get_num_threads(), 1,
                   [](std::int64_t, std::int64_t) { at::globalContext().setFlushDenormal(true); });
  return true;
}

void allow_tf32() {
  at::globalContext().setAllowTF32CuBLAS(true);
  at::globalContext().setAllowTF32CuDNN(true);
}

bool cuda_is_available() {
  return torch::cuda::is_available();
}

void initialize(models::Device device) {
  if (device == models::Device::cuda) torch::zeros({1}, torch::kCUDA);
}

void synchronise(models::Device device) {
  if (device == models::Device::cuda) torch::cuda::synchronize();
}

std::unique_ptr<DeviceTimer> make_device_timer(models::Device device) {
  if (device == models::Device::cpu) return nullptr;
  return std::make_unique<CudaEventTimer>();
}

#if TORCHWATCH_HAS_DEVICE_ALLOCATOR
std::optional<DeviceMemory> device_memory(models::Device device) {
  if (device == models::Device::cpu) return {};
  const auto stats = c10::getDeviceAllocator(c10::DeviceType::CUDA)->getDeviceStats(kFirst);
  const auto& bytes = stats.allocated_bytes[0];  // 0: small and large blocks together
  return DeviceMemory{bytes.current, bytes.peak};
}

void reset_device_peak(models::Device device) {
  if (device == models::Device::cuda) {
    c10::getDeviceAllocator(c10::DeviceType::CUDA)->resetPeakStats(kFirst);
  }
}
#else
std::optional<DeviceMemory> device_memory(models::Device) {
  return {};
}
void reset_device_peak(models::Device) {}
#endif

void release_device_caches(models::Device device) {
  if (device == models::Device::cpu) return;
  synchronise(device);
  if (auto* clear = loaded<void()>("_ZN2at4cuda21clearCublasWorkspacesEv")) clear();
#if TORCHWATCH_HAS_DEVICE_ALLOCATOR
  c10::getDeviceAllocator(c10::DeviceType::CUDA)->emptyCache();
#endif
}

std::optional<std::int64_t> device_bytes_used(models::Device device) {
  const auto memory = whole_device(device);
  if (!memory) return {};
  return memory->total - memory->free;
}

std::optional<std::int64_t> device_bytes_free(models::Device device) {
  const auto memory = whole_device(device);
  if (!memory) return {};
  return memory->free;
}

}  // namespace torchwatch::runner
