// Everything here is checked by the compiler.
#include <cupti.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <type_traits>

#include "cupti_abi.hpp"

using namespace torchwatch::activity::cupti;

static_assert(kMemcpy == CUPTI_ACTIVITY_KIND_MEMCPY);
static_assert(kMemset == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(kConcurrentKernel == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(kMemcpyPeer == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(kGraphTrace == CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

static_assert(kHostToDevice == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
static_assert(kDeviceToHost == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
static_assert(kHostToArray == CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
static_assert(kArrayToHost == CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
static_assert(kArrayToArray == CUPTI_ACTIVITY_MEMCPY_KIND_ATOA);
static_assert(kArrayToDevice == CUPTI_ACTIVITY_MEMCPY_KIND_ATOD);
static_assert(kDeviceToArray == CUPTI_ACTIVITY_MEMCPY_KIND_DTOA);
static_assert(kDeviceToDevice == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
static_assert(kHostToHost == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
static_assert(kPeerToPeer == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);

static_assert(kZeroedBuffers == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
static_assert(kFlushForced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);

template <typename Record>
constexpr bool fits(const Place& place) {
  return offsetof(Record, kind) == 0 && place.start == offsetof(Record, start) &&
         place.end == offsetof(Record, end) && place.device == offsetof(Record, deviceId) &&
         place.stream == offsetof(Record, streamId);
}
template <typename Copy>
constexpr bool fits_copy() {
  return fits<Copy>(kMemoryPlace) && kBytesAt == offsetof(Copy, bytes) &&
         kCopyKindAt == offsetof(Copy, copyKind);
}
static_assert(fits<CUpti_ActivityKernel3>(kKernelPlace));
static_assert(fits<CUpti_ActivityKernel9>(kKernelPlace));
static_assert(fits<CUpti_ActivityKernel10>(kKernelPlace));
static_assert(kKernelNameAt == offsetof(CUpti_ActivityKernel3, name));
static_assert(kKernelNameAt == offsetof(CUpti_ActivityKernel10, name));
static_assert(fits_copy<CUpti_ActivityMemcpy>());
static_assert(fits_copy<CUpti_ActivityMemcpy6>());
static_assert(fits_copy<CUpti_ActivityMemcpyPtoP>());
static_assert(fits_copy<CUpti_ActivityMemcpyPtoP4>());
static_assert(fits<CUpti_ActivityMemset>(kMemoryPlace));
static_assert(fits<CUpti_ActivityMemset4>(kMemoryPlace));
static_assert(kBytesAt == offsetof(CUpti_ActivityMemset4, bytes));
static_assert(fits<CUpti_ActivityGraphTrace2>(kGraphPlace));

static_assert(kSuccess == CUPTI_SUCCESS);
static_assert(kMaxLimitReached == CUPTI_ERROR_MAX_LIMIT_REACHED);
static_assert(kNotInitialized == CUPTI_ERROR_NOT_INITIALIZED);
static_assert(kDisabled == CUPTI_ERROR_DISABLED);
static_assert(kVirtualDevice == CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
static_assert(kInsufficientPrivileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(kMultipleSubscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(kVirtualDevicePrivileges == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
static_assert(kConfidentialComputing == CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
static_assert(kMiningDevice == CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
static_assert(kMigDevice == CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
static_assert(kSliDevice == CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
static_assert(kWslDevice == CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
static_assert(kUnknown == CUPTI_ERROR_UNKNOWN);

static_assert(sizeof(SubscriberParams) == CUpti_SubscriberParams_STRUCT_SIZE);
static_assert(offsetof(SubscriberParams, subscriber_name) ==
              offsetof(CUpti_SubscriberParams, subscriberName));
static_assert(offsetof(SubscriberParams, old_subscriber_name) ==
              offsetof(CUpti_SubscriberParams, oldSubscriberName));
static_assert(offsetof(SubscriberParams, old_subscriber_size) ==
              offsetof(CUpti_SubscriberParams, oldSubscriberSize));

static_assert(sizeof(CUptiResult) == sizeof(int) && sizeof(CUpti_ActivityKind) == sizeof(int) &&
              sizeof(CUpti_ActivityAttribute) == sizeof(int));
static_assert(std::is_pointer_v<CUcontext> && std::is_pointer_v<CUpti_SubscriberHandle>);

TEST_CASE("what is stated of CUPTI's layout is what the toolkit's headers say") {
  SUCCEED("CUPTI_API_VERSION " << CUPTI_API_VERSION);
}
