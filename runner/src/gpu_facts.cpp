#include "gpu_facts.hpp"

#include <dlfcn.h>

#include <array>
#include <memory>

namespace torchwatch::runner {
namespace {

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using LibraryHandle = std::unique_ptr<void, CloseLibrary>;

// The few of NVML's functions that are used, as its ABI has them since version 5: no header of it
// comes with a toolkit.
using Device = void*;
struct Nvml {
  explicit Nvml(void* library) : library_(library) {}

  template <typename... Arguments>
  bool call(const char* function, Arguments... arguments) const {
    using Function = int(Arguments...);
    auto* found = reinterpret_cast<Function*>(dlsym(library_, function));
    return found != nullptr && found(arguments...) == 0;
  }

 private:
  void* library_;
};

constexpr unsigned kTextBytes = 96;

void add_device_facts(const Nvml& nvml, std::map<std::string, std::string>& facts) {
  std::array<char, kTextBytes> text{};
  if (nvml.call("nvmlSystemGetDriverVersion", text.data(), kTextBytes)) {
    facts["gpu_driver"] = text.data();
  }
  Device device = nullptr;
  if (!nvml.call("nvmlDeviceGetHandleByIndex_v2", 0U, &device)) return;
  if (nvml.call("nvmlDeviceGetName", device, text.data(), kTextBytes)) {
    facts["gpu_model"] = text.data();
  }
  constexpr int kStreamingClock = 1;  // NVML_CLOCK_SM
  unsigned megahertz = 0;
  if (nvml.call("nvmlDeviceGetMaxClockInfo", device, kStreamingClock, &megahertz)) {
    facts["gpu_clock_max_mhz"] = std::to_string(megahertz);
  }
}

}  // namespace

std::map<std::string, std::string> gpu_facts() {
  std::map<std::string, std::string> facts;
  const LibraryHandle library(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
  if (!library) return facts;
  const Nvml nvml(library.get());
  if (!nvml.call("nvmlInit_v2")) return facts;
  add_device_facts(nvml, facts);
  nvml.call("nvmlShutdown");
  return facts;
}

}  // namespace torchwatch::runner
