#include "torchwatch/activity/trace.hpp"

#include <array>
#include <atomic>

#include "activity_buffers.hpp"
#include "cupti_library.hpp"

namespace torchwatch::activity {
namespace {

using namespace cupti;

constexpr std::array kKinds{kConcurrentKernel, kMemcpy, kMemcpyPeer, kMemset};

void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records_max) {
  *buffer = ActivityBuffers::instance().hand_out();
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *records_max = 0;  // as many as fit
}

void complete_buffer(void*, std::uint32_t, std::uint8_t* buffer, std::size_t,
                     std::size_t valid_size) {
  ActivityBuffers::instance().take_back(buffer, valid_size);
}

/// A subscriber must have one; no domain is enabled, so it is never called.
void ignore_callback(void*, int, std::uint32_t, const void*) {}

Status answered(const std::string& call, int code) {
  if (code == kSuccess) return {};
  return fail(cupti_error(call, code));
}

Status subscribe_by_name(const CuptiLibrary& library, void** subscriber) {
  std::array<char, 256> other{};
  SubscriberParams params;
  params.subscriber_name = "torchwatch-runner";
  params.old_subscriber_name = other.data();
  params.old_subscriber_size = other.size() - 1;
  const int code = library.subscribe_named(subscriber, ignore_callback, nullptr, &params);
  if (code == kSuccess) return {};
  auto error = cupti_error("cuptiSubscribe_v2", code);
  if (other[0] != '\0') error.message += std::string("; it is \"") + other.data() + "\"";
  return fail(std::move(error));
}

/// CUPTI's activity records need no subscriber, but the attempt reveals another profiler, with
/// which callbacks and kinds would be shared silently.
Status subscribe(const CuptiLibrary& library, void** subscriber) {
  if (library.subscribe_named != nullptr) return subscribe_by_name(library, subscriber);
  return answered("cuptiSubscribe", library.subscribe(subscriber, ignore_callback, nullptr));
}

std::atomic<bool> a_trace_lives{false};

}  // namespace

struct Trace::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    disable_kinds();
    if (subscriber != nullptr) library.unsubscribe(subscriber);
    a_trace_lives = false;
  }

  Status start(const Libraries& names);
  Status enable_kinds();
  void disable_kinds();
  Status flush() const;

  CuptiLibrary library;
  TraceLimits limits;
  std::uint32_t version = 0;
  void* subscriber = nullptr;
  bool enabled = false;
};

Status Trace::State::start(const Libraries& names) {
  TW_TRY_VOID(find_cuda_device(names.cuda));
  TW_TRY(library, load_cupti(names.cupti));
  TW_TRY_VOID(answered("cuptiGetVersion", library.get_version(&version)));
  TW_TRY_VOID(subscribe(library, &subscriber));
  std::uint8_t yes = 1;
  std::size_t size = sizeof yes;
  // An older CUPTI does not know it and zeroes the buffers itself.
  library.set_attribute(kZeroedBuffers, &size, &yes);
  ActivityBuffers::instance().begin(limits.buffers);
  TW_TRY_VOID(answered("cuptiActivityRegisterCallbacks",
                       library.register_callbacks(request_buffer, complete_buffer)));
  return enable_kinds();
}

Status Trace::State::enable_kinds() {
  enabled = true;
  for (const int kind : kKinds) {
    TW_TRY_VOID(
        answered("cuptiActivityEnable(" + std::to_string(kind) + ")", library.enable(kind)));
  }
  return {};
}

void Trace::State::disable_kinds() {
  if (!enabled) return;
  for (const int kind : kKinds) library.disable(kind);
  enabled = false;
}

/// Forces the flush, as a plain one keeps every buffer in which some record is not complete.
Status Trace::State::flush() const {
  return answered("cuptiActivityFlushAll", library.flush_all(kFlushForced));
}

Trace::Trace(std::unique_ptr<State> state) : state_(std::move(state)) {}

Trace::~Trace() = default;

Result<std::unique_ptr<Trace>> Trace::begin(const Libraries& libraries, TraceLimits limits) {
  if (a_trace_lives.exchange(true)) {
    return fail(ErrorCode::conflict, "another trace records in this process: end it first");
  }
  auto state = std::make_unique<State>();
  state->limits = limits;
  TW_TRY_VOID(state->start(libraries));
  return std::unique_ptr<Trace>(new Trace(std::move(state)));
}

std::int64_t Trace::now_ns() const {
  std::uint64_t now = 0;
  if (state_->library.get_timestamp(&now) != kSuccess) return 0;
  return static_cast<std::int64_t>(now);
}

Status Trace::discard() {
  TW_TRY_VOID(state_->flush());
  auto& buffers = ActivityBuffers::instance();
  buffers.wait_for_records(state_->limits.late_buffer);
  buffers.returned();
  buffers.make_ready();
  std::size_t ignored = 0;  // the count begins anew when it is read
  return answered("cuptiActivityGetNumDroppedRecords",
                  state_->library.count_dropped(nullptr, 0, &ignored));
}

Result<Recording> Trace::end() {
  state_->disable_kinds();
  TW_TRY_VOID(state_->flush());
  auto& buffers = ActivityBuffers::instance();
  Recording recording;
  recording.never_returned = buffers.wait_for_records(state_->limits.late_buffer);
  std::size_t dropped = 0;
  TW_TRY_VOID(answered("cuptiActivityGetNumDroppedRecords",
                       state_->library.count_dropped(nullptr, 0, &dropped)));
  recording.dropped = static_cast<std::int64_t>(dropped);
  read_records(state_->library, buffers.returned(), recording);
  return recording;
}

std::uint32_t Trace::cupti_version() const {
  return state_->version;
}

}  // namespace torchwatch::activity
