#include <array>
#include <utility>

#include "facts.hpp"
#include "torchwatch/activity/shared_library.hpp"

namespace torchwatch::runner {
namespace {

// The few functions of NVML in use, by its ABI since version 5; no toolkit brings its header.
using Device = void*;
struct Nvml {
  activity::SharedLibrary library;

  template <typename... Arguments>
  bool call(const char* function, Arguments... arguments) const {
    auto* found = library.find<int(Arguments...)>(function);
    return found != nullptr && found(arguments...) == 0;
  }
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

std::map<std::string, std::string> gpu_facts(const std::vector<std::string>& libraries) {
  auto library = activity::SharedLibrary::open(libraries);
  if (!library) return {{"gpu", "unknown: " + library.error().text()}};
  const Nvml nvml{std::move(*library)};
  if (!nvml.call("nvmlInit_v2")) {
    return {
        {"gpu", "unknown: " + nvml.library.name() + " does not start; see what nvidia-smi says"}};
  }
  std::map<std::string, std::string> facts;
  add_device_facts(nvml, facts);
  nvml.call("nvmlShutdown");
  return facts;
}

}  // namespace torchwatch::runner
