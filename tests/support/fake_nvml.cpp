// An NVML of a machine with two GPUs: the one at 0000:3b:00.0 is the second.
#include <cstdio>
#include <string_view>

namespace {

struct Device {
  const char* name;
  unsigned megahertz;
};
Device first{"First GPU", 1000};
Device second{"Second GPU", 2000};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return 0;
}

int nvmlShutdown() {
  return 0;
}

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.0");
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = index == 0 ? &first : &second;
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* place, void** device) {
  *device = &second;
  return std::string_view(place) == "0000:3b:00.0" ? 0 : 6;
}

int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  std::snprintf(text, size, "%s", static_cast<const Device*>(device)->name);
  return 0;
}

int nvmlDeviceGetMaxClockInfo(void* device, int, unsigned* megahertz) {
  *megahertz = static_cast<const Device*>(device)->megahertz;
  return 0;
}

}  // extern "C"
