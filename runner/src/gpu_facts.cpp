#include <array>
#include <utility>

#include "facts.hpp"
#include "torchwatch/activity/shared_library.hpp"

namespace torchwatch::runner {
namespace {

// The few functions in use of NVML, by its ABI since version 5, and of the CUDA driver, unchanged
// since CUDA 4.1; no toolkit brings NVML's header.
using Device = void*;
struct Library {
  activity::SharedLibrary library;

  template <typename... Arguments>
  bool call(const char* function, Arguments... arguments) const {
    auto* found = library.find<int(Arguments...)>(function);
    return found != nullptr && found(arguments...) == 0;
  }
};

constexpr unsigned kTextBytes = 96;

/// Returns the place on the PCI bus of the device that this process computes on, as
/// CUDA_VISIBLE_DEVICES chooses it. Empty where the driver does not say.
std::string place_of_device(const std::vector<std::string>& drivers) {
  const auto library = activity::SharedLibrary::open(drivers);
  if (!library) return {};
  const Library cuda{*library};
  int device = 0;
  std::array<char, kTextBytes> text{};
  const bool is_known =
      cuda.call("cuInit", 0U) && cuda.call("cuDeviceGet", &device, 0) &&
      cuda.call("cuDeviceGetPCIBusId", text.data(), static_cast<int>(kTextBytes), device);
  return is_known ? text.data() : std::string();
}

/// NVML numbers all devices of the machine, also those that this process does not see.
bool find_device(const Library& nvml, const std::string& place, Device& device) {
  if (!place.empty()) return nvml.call("nvmlDeviceGetHandleByPciBusId_v2", place.c_str(), &device);
  return nvml.call("nvmlDeviceGetHandleByIndex_v2", 0U, &device);
}

void add_device_facts(const Library& nvml, const std::string& place,
                      std::map<std::string, std::string>& facts) {
  std::array<char, kTextBytes> text{};
  if (nvml.call("nvmlSystemGetDriverVersion", text.data(), kTextBytes)) {
    facts["gpu_driver"] = text.data();
  }
  Device device = nullptr;
  if (!find_device(nvml, place, device)) return;
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

std::map<std::string, std::string> gpu_facts(const std::vector<std::string>& libraries,
                                             const std::vector<std::string>& drivers) {
  auto library = activity::SharedLibrary::open(libraries);
  if (!library) return {{"gpu", "unknown: " + library.error().text()}};
  const Library nvml{std::move(*library)};
  if (!nvml.call("nvmlInit_v2")) {
    return {
        {"gpu", "unknown: " + nvml.library.name() + " does not start; see what nvidia-smi says"}};
  }
  std::map<std::string, std::string> facts;
  add_device_facts(nvml, place_of_device(drivers), facts);
  nvml.call("nvmlShutdown");
  return facts;
}

}  // namespace torchwatch::runner
