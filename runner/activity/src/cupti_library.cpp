#include "cupti_library.hpp"

#include <fstream>

namespace torchwatch::activity {
namespace {

using namespace cupti;

/// Finds `function`, or notes the name of the first that is missing.
template <typename Function>
void require(const SharedLibrary& library, const char* name, Function*& function,
             std::string& missing) {
  function = library.find<Function>(name);
  if (function == nullptr && missing.empty()) missing = name;
}

/// What the kernel module states about profiling by non-administrators; empty if nothing.
std::string driver_setting() {
  std::ifstream file("/proc/driver/nvidia/params");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("RmProfilingAdminOnly")) return "; the driver states " + line;
  }
  return "";
}

std::string meaning_of(int code) {
  switch (code) {
    case kNotInitialized:
      return "the NVIDIA driver is too old for this CUPTI: update the driver, or take a LibTorch "
             "build for an older CUDA";
    case kDisabled:
      return "another profiler has switched CUPTI off: end it";
    case kVirtualDevice:
    case kVirtualDevicePrivileges:
      return "this is a virtual GPU whose host does not let it be profiled: have profiling enabled "
             "for it there (enable_profiling=1), or measure on a whole GPU";
    case kInsufficientPrivileges:
      return "no permission to profile: load the nvidia module with "
             "NVreg_RestrictProfilingToAdminUsers=0 or give this process CAP_SYS_ADMIN" +
             driver_setting();
    case kMultipleSubscribers:
      return "another profiler is at work in this process: run without nsys, ncu, cuda-gdb and "
             "CUDA_INJECTION64_PATH";
    case kConfidentialComputing:
      return "CUPTI does not record a GPU in confidential computing mode: switch the mode off";
    case kMiningDevice:
      return "CUPTI does not record mining GPUs: measure on another";
    case kMigDevice:
      return "CUPTI does not record this MIG slice: measure on a whole GPU";
    case kSliDevice:
      return "CUPTI does not record GPUs in SLI: switch SLI off";
    case kWslDevice:
      return "CUPTI does not record this GPU under WSL: measure on Linux itself";
    case kUnknown:
      return "CUPTI failed and does not say why: see whether nvidia-smi works and the driver is "
             "not "
             "older than this CUPTI";
    default:
      return "CUPTI failed";
  }
}

}  // namespace

Result<CuptiLibrary> load_cupti(const std::vector<std::string>& names) {
  const auto library = SharedLibrary::open(names);
  if (!library) {
    return fail(
        library.error().within("CUPTI not found: install the CUDA toolkit's or the Python package "
                               "nvidia-cuda-cupti and put "
                               "its folder on LD_LIBRARY_PATH"));
  }
  CuptiLibrary found;
  std::string missing;
  require(*library, "cuptiGetVersion", found.get_version, missing);
  require(*library, "cuptiGetTimestamp", found.get_timestamp, missing);
  require(*library, "cuptiSubscribe", found.subscribe, missing);
  require(*library, "cuptiUnsubscribe", found.unsubscribe, missing);
  require(*library, "cuptiActivitySetAttribute", found.set_attribute, missing);
  require(*library, "cuptiActivityRegisterCallbacks", found.register_callbacks, missing);
  require(*library, "cuptiActivityEnable", found.enable, missing);
  require(*library, "cuptiActivityDisable", found.disable, missing);
  require(*library, "cuptiActivityFlushAll", found.flush_all, missing);
  require(*library, "cuptiActivityGetNextRecord", found.next_record, missing);
  require(*library, "cuptiActivityGetNumDroppedRecords", found.count_dropped, missing);
  if (!missing.empty()) {
    return fail(
        ErrorCode::unavailable,
        library->name() + " has no " + missing + ": it is not CUPTI, or older than CUDA 7.0",
        "install a newer one");
  }
  found.subscribe_named = library->find<SubscribeNamed>("cuptiSubscribe_v2");
  return found;
}

Error cupti_error(const std::string& call, int code) {
  return {ErrorCode::unavailable,
          meaning_of(code) + " (" + call + ": CUPTI error " + std::to_string(code) + ")"};
}

}  // namespace torchwatch::activity
