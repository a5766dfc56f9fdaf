#pragma once

#include <cstddef>
#include <cstdint>

// The part of CUPTI's binary interface in use, stated here because a runner kit is compiled where
// no CUDA toolkit is. Values and offsets are those of cupti_activity.h, cupti_callbacks.h and
// cupti_result.h of CUDA 13.0 (CUPTI_API_VERSION 130001), on 64-bit Linux. The offsets are the same
// in every version of these records from CUpti_ActivityKernel3, CUpti_ActivityMemcpy and
// CUpti_ActivityMemset on; CUPTI always writes its newest version, so no size is assumed: the next
// record is CUPTI's to find. tests/unit/activity/cupti_layout_test.cpp compares this file with a
// toolkit's headers.
namespace torchwatch::activity::cupti {

// CUpti_ActivityKind, those enabled. Never KIND_KERNEL (3), which runs one kernel at a time.
inline constexpr int kMemcpy = 1;
inline constexpr int kMemset = 2;
inline constexpr int kConcurrentKernel = 10;
inline constexpr int kMemcpyPeer = 22;  // CUPTI_ACTIVITY_KIND_MEMCPY2
// Not enabled, as it hides a graph's kernels and copies; read all the same, because what another
// part of the process enables holds for all.
inline constexpr int kGraphTrace = 51;

// CUpti_ActivityMemcpyKind; arrays lie in device memory.
inline constexpr int kHostToDevice = 1;
inline constexpr int kDeviceToHost = 2;
inline constexpr int kHostToArray = 3;
inline constexpr int kArrayToHost = 4;
inline constexpr int kArrayToArray = 5;
inline constexpr int kArrayToDevice = 6;
inline constexpr int kDeviceToArray = 7;
inline constexpr int kDeviceToDevice = 8;
inline constexpr int kHostToHost = 9;
inline constexpr int kPeerToPeer = 10;

// CUpti_ActivityAttribute and the flag of cuptiActivityFlushAll.
inline constexpr int kZeroedBuffers = 5;  // CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, uint8_t
inline constexpr std::uint32_t kFlushForced = 1;

// Every record begins with its kind, 32 bits.
inline constexpr std::size_t kCopyKindAt = 4;  // uint8_t, memcpy of both sorts
inline constexpr std::size_t kBytesAt = 8;     // uint64_t, memcpy of both sorts and memset
// uint64_t start and end, uint32_t device and stream: kernels, memcpy of both sorts, memset.
struct Place {
  std::size_t start, end, device, stream;
};
inline constexpr Place kKernelPlace{.start = 16, .end = 24, .device = 40, .stream = 48};
inline constexpr Place kMemoryPlace{.start = 16, .end = 24, .device = 32, .stream = 40};
inline constexpr Place kGraphPlace{.start = 8, .end = 16, .device = 24, .stream = 36};
inline constexpr std::size_t kKernelNameAt = 104;  // const char*

// CUptiResult
inline constexpr int kSuccess = 0;
inline constexpr int kMaxLimitReached = 12;  // no more records in a buffer
inline constexpr int kNotInitialized = 15;
inline constexpr int kDisabled = 23;
inline constexpr int kVirtualDevice = 33;
inline constexpr int kInsufficientPrivileges = 35;
inline constexpr int kMultipleSubscribers = 39;
inline constexpr int kVirtualDevicePrivileges = 40;
inline constexpr int kConfidentialComputing = 41;
inline constexpr int kMiningDevice = 42;
inline constexpr int kMigDevice = 43;
inline constexpr int kSliDevice = 44;
inline constexpr int kWslDevice = 45;
inline constexpr int kUnknown = 999;

/// CUpti_SubscriberParams
struct SubscriberParams {
  std::size_t struct_size = sizeof(SubscriberParams);
  const char* subscriber_name = nullptr;
  char* old_subscriber_name = nullptr;
  std::size_t old_subscriber_size = 0;
};

// CUcontext and CUpti_SubscriberHandle are pointers, enumerations are int.
using RequestBuffer = void(std::uint8_t** buffer, std::size_t* size, std::size_t* records_max);
using CompleteBuffer = void(void* context, std::uint32_t stream, std::uint8_t* buffer,
                            std::size_t size, std::size_t valid_size);
using Callback = void(void* user, int domain, std::uint32_t id, const void* data);

using GetVersion = int(std::uint32_t* version);
using GetTimestamp = int(std::uint64_t* timestamp);
using Subscribe = int(void** subscriber, Callback* callback, void* user);
using SubscribeNamed = int(void** subscriber, Callback* callback, void* user,
                           SubscriberParams* params);
using Unsubscribe = int(void* subscriber);
using SetAttribute = int(int attribute, std::size_t* value_size, void* value);
using RegisterCallbacks = int(RequestBuffer* request, CompleteBuffer* complete);
using Enable = int(int kind);
using FlushAll = int(std::uint32_t flag);
using GetNextRecord = int(std::uint8_t* buffer, std::size_t valid_bytes, std::uint8_t** record);
using GetNumDroppedRecords = int(void* context, std::uint32_t stream, std::size_t* dropped);

}  // namespace torchwatch::activity::cupti
