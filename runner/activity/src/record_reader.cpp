#include <cstring>
#include <optional>

#include "activity_buffers.hpp"

namespace torchwatch::activity {
namespace {

using namespace cupti;

template <typename T>
T value_at(const std::uint8_t* record, std::size_t offset) {
  T value;
  std::memcpy(static_cast<void*>(&value), record + offset, sizeof value);
  return value;
}

/// Stamps are ns since 1970; one beyond the signed range is broken, becomes negative, and is found
/// for that.
std::int64_t time_at(const std::uint8_t* record, std::size_t offset) {
  return static_cast<std::int64_t>(value_at<std::uint64_t>(record, offset));
}

Activity at(const Place& place, Kind kind, const std::uint8_t* record) {
  return {.kind = kind,
          .start_ns = time_at(record, place.start),
          .end_ns = time_at(record, place.end),
          .device = value_at<std::uint32_t>(record, place.device),
          .stream = value_at<std::uint32_t>(record, place.stream)};
}

Kind direction_of(std::uint8_t copy_kind) {
  switch (copy_kind) {
    case kHostToDevice:
    case kHostToArray:
      return Kind::host_to_device;
    case kDeviceToHost:
    case kArrayToHost:
      return Kind::device_to_host;
    case kArrayToArray:
    case kArrayToDevice:
    case kDeviceToArray:
    case kDeviceToDevice:
      return Kind::device_to_device;
    case kHostToHost:
      return Kind::host_to_host;
    case kPeerToPeer:
      return Kind::peer;
    default:
      return Kind::unknown_copy;
  }
}

Activity memory_activity(Kind kind, const std::uint8_t* record) {
  auto activity = at(kMemoryPlace, kind, record);
  activity.bytes = value_at<std::int64_t>(record, kBytesAt);
  return activity;
}

Activity kernel_activity(const std::uint8_t* record) {
  auto activity = at(kKernelPlace, Kind::kernel, record);
  const auto* name = value_at<const char*>(record, kKernelNameAt);
  if (name != nullptr) activity.name = name;
  return activity;
}

std::optional<Activity> activity_of(const std::uint8_t* record) {
  switch (value_at<int>(record, 0)) {
    case kConcurrentKernel:
      return kernel_activity(record);
    case kMemset:
      return memory_activity(Kind::memset, record);
    case kMemcpy:
      return memory_activity(direction_of(value_at<std::uint8_t>(record, kCopyKindAt)), record);
    case kMemcpyPeer:
      return memory_activity(Kind::peer, record);
    case kGraphTrace:
      return at(kGraphPlace, Kind::graph, record);
    default:
      return {};
  }
}

void read_buffer(const CuptiLibrary& library, const ReturnedBuffer& buffer, Recording& recording) {
  std::uint8_t* record = nullptr;
  int code = kSuccess;
  while (true) {
    code = library.next_record(buffer.memory->data(), buffer.valid_bytes, &record);
    if (code != kSuccess) break;
    if (const auto activity = activity_of(record)) recording.activities.push_back(*activity);
  }
  if (code != kMaxLimitReached) ++recording.unreadable;
}

}  // namespace

void read_records(const CuptiLibrary& library, const std::vector<ReturnedBuffer>& buffers,
                  Recording& recording) {
  for (const auto& buffer : buffers) read_buffer(library, buffer, recording);
}

}  // namespace torchwatch::activity
