#include <string_view>

#include "torchwatch/activity/shared_library.hpp"
#include "torchwatch/activity/trace.hpp"

namespace torchwatch::activity {
namespace {

// Functions of the CUDA driver API, unchanged since CUDA 2 (cuda.h of CUDA 13.0).
using Initialise = int(unsigned flags);
using CountDevices = int(int* count);

/// The meaning of a code of cuInit and what to do; codes as in cuda.h of CUDA 13.0.
std::string_view meaning_of(int code) {
  switch (code) {
    case 34:
      return "libcuda.so.1 is the toolkit's stub: take its folder (.../lib64/stubs) off the "
             "library path";
    case 100:
      return "the driver finds no GPU: see what nvidia-smi lists and whether CUDA_VISIBLE_DEVICES "
             "hides it";
    case 304:
      return "the driver may not access the GPU: see the permissions of /dev/nvidia*, and in a "
             "container whether it was given the GPU";
    case 802:
      return "the GPU's fabric is not up yet: start nvidia-fabricmanager";
    case 803:
      return "kernel module and libcuda.so.1 are of two driver versions: restart the machine";
    case 804:
      return "the compatibility package's libcuda.so.1 does not fit this GPU: take it off the "
             "library path";
    default:
      return "the driver does not start: see what nvidia-smi says";
  }
}

tl::unexpected<Error> refused(const std::string& call, int code) {
  return fail(ErrorCode::unavailable, std::string(meaning_of(code)) + " (" + call +
                                          ": CUDA error " + std::to_string(code) + ")");
}

}  // namespace

Status find_cuda_device(const std::vector<std::string>& library_names) {
  const auto library = SharedLibrary::open(library_names);
  if (!library) return fail(library.error().within("no NVIDIA driver found"));
  auto* initialise = library->find<Initialise>("cuInit");
  auto* count_devices = library->find<CountDevices>("cuDeviceGetCount");
  if (initialise == nullptr || count_devices == nullptr) {
    return fail(ErrorCode::unavailable,
                library->name() + " is not a CUDA driver: cuInit or cuDeviceGetCount is missing");
  }
  if (const int code = initialise(0); code != 0) return refused("cuInit", code);
  int count = 0;
  if (const int code = count_devices(&count); code != 0) return refused("cuDeviceGetCount", code);
  constexpr int kNoDevice = 100;
  if (count == 0) return refused("cuDeviceGetCount finds none", kNoDevice);
  return {};
}

}  // namespace torchwatch::activity
