// A CUPTI without a GPU: its functions by their names and with their layout (cupti_activity.h of
// CUDA 13.0), answering as the test has set. Variants lack a function, as older ones do.
#include "fake_cupti.hpp"

#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

using torchwatch::test::Delivery;
using torchwatch::test::FakeCupti;
using torchwatch::test::FakeRecord;

using RequestBuffer = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using CompleteBuffer = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);

constexpr int kSuccess = 0;
constexpr int kMaxLimitReached = 12;
constexpr int kInvalidKind = 21;

FakeCupti state;
RequestBuffer request_buffer = nullptr;
CompleteBuffer complete_buffer = nullptr;
std::mutex flushing;
std::jthread late_delivery;

struct Buffer {
  std::uint8_t* memory = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
};

/// Bytes of a record of CUDA 13.0; 0: no such kind.
std::size_t size_of(int kind) {
  switch (kind) {
    case 10:
      return 216;  // CUpti_ActivityKernel10
    case 1:
    case 22:
      return 96;  // CUpti_ActivityMemcpy6, CUpti_ActivityMemcpyPtoP4
    case 2:
      return 88;  // CUpti_ActivityMemset4
    case 17:
    case 51:
      return 56;  // CUpti_ActivityOverhead3, CUpti_ActivityGraphTrace2
    default:
      return 0;
  }
}

template <typename T>
void put(std::uint8_t* record, std::size_t offset, T value) {
  std::memcpy(record + offset, &value, sizeof value);
}

void put_place(std::uint8_t* out, const FakeRecord& record, std::size_t start, std::size_t device,
               std::size_t stream) {
  put(out, start, record.start);
  put(out, start + 8, record.end);
  put(out, device, record.device);
  put(out, stream, record.stream);
}

void write(std::uint8_t* out, const FakeRecord& record) {
  put(out, 0, record.kind);
  switch (record.kind) {
    case 10:
      put_place(out, record, 16, 40, 48);
      put(out, 104, record.name);
      return;
    case 1:
    case 22:
      put(out, 4, record.copy_kind);
      [[fallthrough]];
    case 2:
      put(out, 8, record.bytes);
      put_place(out, record, 16, 32, 40);
      return;
    case 51:
      put_place(out, record, 8, 24, 36);
      return;
    default:
      return;
  }
}

void deliver(const Buffer& buffer) {
  if (buffer.memory == nullptr || state.delivery == Delivery::never) return;
  if (state.delivery == Delivery::at_once) {
    complete_buffer(nullptr, 0, buffer.memory, buffer.size, buffer.used);
    return;
  }
  late_delivery = std::jthread([buffer] {
    const std::scoped_lock flush_has_returned(flushing);
    complete_buffer(nullptr, 0, buffer.memory, buffer.size, buffer.used);
  });
}

Buffer requested() {
  Buffer buffer;
  std::size_t records_max = 0;
  request_buffer(&buffer.memory, &buffer.size, &records_max);
  return buffer;
}

void write_pending() {
  Buffer buffer;
  for (const auto& record : state.pending) {
    const auto size = size_of(record.kind) == 0 ? 56 : size_of(record.kind);
    if (buffer.memory == nullptr || buffer.used + size > buffer.size) {
      deliver(buffer);
      buffer = requested();
    }
    if (buffer.memory == nullptr) {
      ++state.dropped;
      continue;
    }
    write(buffer.memory + buffer.used, record);
    buffer.used += size;
  }
  deliver(buffer);
  state.pending.clear();
}

std::uint64_t wall_clock_ns() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count());
}

int subscribed(void** subscriber) {
  static int handle = 0;
  if (state.subscribe_answer == kSuccess) *subscriber = &handle;
  return state.subscribe_answer;
}

}  // namespace

extern "C" {

FakeCupti* fake_cupti_state() {
  late_delivery = {};
  return &state;
}

int cuptiGetVersion(std::uint32_t* version) {
  *version = state.version;
  return state.version_answer;
}

int cuptiGetTimestamp(std::uint64_t* timestamp) {
  *timestamp = state.tells_real_time ? wall_clock_ns() : state.now_ns;
  return state.timestamp_answer;
}

int cuptiSubscribe(void** subscriber, void*, void*) {
  state.calls.emplace_back("subscribe");
  return subscribed(subscriber);
}

#ifndef FAKE_CUPTI_BEFORE_12_9
struct SubscriberParams {
  std::size_t struct_size;
  const char* name;
  char* old_name;
  std::size_t old_size;
};

int cuptiSubscribe_v2(void** subscriber, void*, void*, SubscriberParams* params) {
  constexpr int kInvalidParameter = 1;
  if (params->struct_size != sizeof(SubscriberParams)) return kInvalidParameter;
  state.calls.emplace_back("subscribe by name");
  if (state.subscribe_answer != kSuccess) {
    std::strncpy(params->old_name, state.other_profiler, params->old_size);
  }
  return subscribed(subscriber);
}
#endif

int cuptiUnsubscribe(void*) {
  state.calls.emplace_back("unsubscribe");
  return kSuccess;
}

int cuptiActivitySetAttribute(int, std::size_t*, void*) {
  return kSuccess;
}

int cuptiActivityRegisterCallbacks(RequestBuffer request, CompleteBuffer complete) {
  request_buffer = request;
  complete_buffer = complete;
  return state.register_answer;
}

int cuptiActivityEnable(int kind) {
  state.calls.push_back("enable " + std::to_string(kind));
  return kind == state.failing_kind ? state.enable_answer : kSuccess;
}

int cuptiActivityDisable(int kind) {
  state.calls.push_back("disable " + std::to_string(kind));
  return kSuccess;
}

int cuptiActivityFlushAll(std::uint32_t flag) {
  const std::scoped_lock lock(flushing);
  state.calls.push_back("flush " + std::to_string(flag));
  if (state.flush_answer != kSuccess) return state.flush_answer;
  if (state.keeps_an_empty_buffer) requested();
  if (state.returns_strange_buffers) {
    complete_buffer(nullptr, 0, nullptr, 0, 0);
    static std::uint8_t not_theirs = 0;
    complete_buffer(nullptr, 0, &not_theirs, 1, 1);
    complete_buffer(nullptr, 0, requested().memory, 0, 0);
  }
  write_pending();
  return kSuccess;
}

int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                               std::uint8_t** record) {
  auto* next = buffer;
  if (*record != nullptr) {
    int kind = 0;
    std::memcpy(&kind, *record, sizeof kind);
    next = *record + size_of(kind);
  }
  if (next >= buffer + valid_bytes) return kMaxLimitReached;
  int kind = 0;
  std::memcpy(&kind, next, sizeof kind);
  if (size_of(kind) == 0) return kInvalidKind;
  *record = next;
  return kSuccess;
}

#ifndef FAKE_CUPTI_WITHOUT_COUNT
int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  state.calls.emplace_back("dropped");
  *dropped = state.dropped;
  state.dropped = 0;
  return state.dropped_answer;
}
#endif

}  // extern "C"
