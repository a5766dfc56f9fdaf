#include "torchwatch/activity/trace.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "fake_gpu.hpp"

using namespace torchwatch;
using namespace torchwatch::activity;
using test::Delivery;
using test::FakeRecord;

namespace {

/// A machine with a GPU and CUPTI, both scripted and well at first.
struct Machine {
  explicit Machine(const char* cupti_path = FAKE_CUPTI)
      : cuda(test::fresh_cuda()),
        cupti(test::fresh_cupti(cupti_path)),
        libraries{{FAKE_CUDA}, {cupti_path}} {}

  std::unique_ptr<Trace> begin() const {
    auto trace = Trace::begin(libraries, limits);
    REQUIRE(trace.has_value());
    return std::move(*trace);
  }
  std::string refusal() const {
    const auto trace = Trace::begin(libraries, limits);
    REQUIRE_FALSE(trace.has_value());
    REQUIRE(trace.error().code == ErrorCode::unavailable);
    return trace.error().text();
  }
  /// What is recorded of `records`.
  Recording record(const std::vector<FakeRecord>& records) const {
    const auto trace = begin();
    cupti.pending = records;
    auto recording = trace->end();
    REQUIRE(recording.has_value());
    return *recording;
  }

  test::FakeCuda& cuda;
  test::FakeCupti& cupti;
  Libraries libraries;
  TraceLimits limits;
};

bool says(const std::string& text, const char* what) {
  INFO(text);
  return text.find(what) != std::string::npos;
}

FakeRecord kernel(std::uint64_t start, std::uint64_t end) {
  return {.kind = 10, .start = start, .end = end};
}
FakeRecord copy(std::uint8_t copy_kind) {
  return {.kind = 1, .start = 1, .end = 2, .copy_kind = copy_kind, .bytes = 64};
}

}  // namespace

TEST_CASE("a kernel is recorded with its times, device, stream and name") {
  const auto recording = Machine().record({{.start = 5, .end = 9, .device = 3, .stream = 21}});
  REQUIRE(recording.activities.size() == 1);
  const auto& activity = recording.activities.front();
  CHECK(activity.kind == Kind::kernel);
  CHECK(activity.start_ns == 5);
  CHECK(activity.end_ns == 9);
  CHECK(activity.device == 3);
  CHECK(activity.stream == 21);
  CHECK(activity.name == "_Z4gemmPf");
  CHECK(recording.dropped == 0);
  CHECK(recording.unreadable == 0);
  CHECK(recording.never_returned == 0);
}

TEST_CASE("a kernel without a name is recorded") {
  const auto recording = Machine().record({{.start = 5, .end = 9, .name = nullptr}});
  CHECK(recording.activities.front().name.empty());
}

TEST_CASE("each direction of a copy is recorded, arrays as device memory") {
  const std::vector<Kind> expected{Kind::unknown_copy,
                                   Kind::host_to_device,
                                   Kind::device_to_host,
                                   Kind::host_to_device,
                                   Kind::device_to_host,
                                   Kind::device_to_device,
                                   Kind::device_to_device,
                                   Kind::device_to_device,
                                   Kind::device_to_device,
                                   Kind::host_to_host,
                                   Kind::peer,
                                   Kind::unknown_copy};
  std::vector<FakeRecord> records;
  for (std::uint8_t kind = 0; kind < 12; ++kind) records.push_back(copy(kind));
  const auto recording = Machine().record(records);
  REQUIRE(recording.activities.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("copy kind " << i);
    CHECK(recording.activities[i].kind == expected[i]);
    CHECK(recording.activities[i].bytes == 64);
  }
}

TEST_CASE("peer copies, memsets and graphs are recorded, other records are skipped") {
  const auto recording = Machine().record({{.kind = 22, .start = 1, .end = 2, .bytes = 8},
                                           {.kind = 2, .start = 3, .end = 4, .bytes = 16},
                                           {.kind = 17},
                                           {.kind = 51, .start = 5, .end = 6, .stream = 9}});
  REQUIRE(recording.activities.size() == 3);
  CHECK(recording.activities[0].kind == Kind::peer);
  CHECK(recording.activities[1].kind == Kind::memset);
  CHECK(recording.activities[1].bytes == 16);
  CHECK(recording.activities[2].kind == Kind::graph);
  CHECK(recording.activities[2].start_ns == 5);
  CHECK(recording.activities[2].stream == 9);
  CHECK(recording.unreadable == 0);
}

TEST_CASE("more records than a buffer holds come whole") {
  const Machine machine;
  const std::vector<FakeRecord> many(50'000, kernel(1, 2));
  CHECK(machine.record(many).activities.size() == 50'000);
}

TEST_CASE("kinds are switched off before the forced flush, and losses counted after it") {
  const Machine machine;
  machine.record({kernel(1, 2)});
  const auto& calls = machine.cupti.calls;
  const auto at = [&](const char* call) {
    const auto found = std::ranges::find(calls, call);
    REQUIRE(found != calls.end());
    return found;
  };
  for (const auto* kind : {"10", "1", "22", "2"}) {
    CHECK(at((std::string("enable ") + kind).c_str()) <
          at((std::string("disable ") + kind).c_str()));
    CHECK(at((std::string("disable ") + kind).c_str()) < at("flush 1"));
  }
  CHECK(at("flush 1") < at("dropped"));
  CHECK(calls.back() == "unsubscribe");
  CHECK(std::ranges::find(calls, "enable 3") == calls.end());
}

TEST_CASE("what was recorded before is discarded") {
  const Machine machine;
  const auto trace = machine.begin();
  machine.cupti.pending = {kernel(1, 2)};
  machine.cupti.dropped = 4;
  REQUIRE(trace->discard().has_value());
  machine.cupti.pending = {kernel(3, 4)};
  const auto recording = trace->end();
  REQUIRE(recording->activities.size() == 1);
  CHECK(recording->activities.front().start_ns == 3);
  CHECK(recording->dropped == 0);
}

TEST_CASE("records that CUPTI dropped are counted") {
  const Machine machine;
  const auto trace = machine.begin();
  machine.cupti.dropped = 3;
  CHECK(trace->end()->dropped == 3);
}

TEST_CASE("records beyond the buffers are dropped and counted, not written anywhere") {
  Machine machine;
  machine.limits.buffers = 1;
  const std::vector<FakeRecord> many(20'000, kernel(1, 2));  // 4.3 MB
  const auto recording = machine.record(many);
  CHECK(recording.activities.size() == (std::size_t{4} << 20U) / 216);
  CHECK(recording.dropped == 20'000 - static_cast<std::int64_t>(recording.activities.size()));
}

TEST_CASE("a buffer that comes late from another thread is waited for") {
  const Machine machine;
  machine.cupti.delivery = Delivery::late;
  const auto recording = machine.record({kernel(1, 2)});
  CHECK(recording.activities.size() == 1);
  CHECK(recording.never_returned == 0);
}

TEST_CASE("a buffer with records that never comes back is counted, an empty one is not") {
  Machine machine;
  machine.limits.late_buffer = std::chrono::milliseconds(1);
  machine.cupti.keeps_an_empty_buffer = true;
  CHECK(machine.record({kernel(1, 2)}).never_returned == 0);
  machine.cupti.delivery = Delivery::never;
  CHECK(machine.record({kernel(1, 2)}).never_returned == 1);
  machine.cupti.delivery = Delivery::at_once;
  CHECK(machine.record({kernel(1, 2)}).never_returned == 0);  // it was another trace's
}

TEST_CASE("null, unknown and empty buffers do no harm") {
  const Machine machine;
  machine.cupti.returns_strange_buffers = true;
  const auto recording = machine.record({kernel(1, 2)});
  CHECK(recording.activities.size() == 1);
  CHECK(recording.unreadable == 0);
}

TEST_CASE("a buffer that cannot be read to its end is counted") {
  const auto recording = Machine().record({kernel(1, 2), {.kind = 77}, kernel(3, 4)});
  CHECK(recording.activities.size() == 1);
  CHECK(recording.unreadable == 1);
}

TEST_CASE("a stamp beyond the signed range is not a time of day") {
  const auto recording = Machine().record({kernel(~std::uint64_t{0}, ~std::uint64_t{0})});
  CHECK(recording.activities.front().start_ns < 0);
}

TEST_CASE("no CUPTI, half a CUPTI: each is named") {
  Machine machine;
  machine.libraries.cupti = {"libcupti_of_nobody.so.13", "libcupti_of_nobody.so"};
  auto text = machine.refusal();
  CHECK(says(text, "CUPTI not found: install"));
  CHECK(says(text, "libcupti_of_nobody.so.13: cannot open"));
  machine.libraries.cupti = {FAKE_CUPTI_WITHOUT_COUNT};
  CHECK(says(machine.refusal(), "has no cuptiActivityGetNumDroppedRecords"));
  machine.libraries.cupti = {FAKE_LIBRARY};
  CHECK(says(machine.refusal(), "has no cuptiGetVersion"));
}

TEST_CASE("the first CUPTI that can be loaded is taken") {
  Machine machine;
  machine.libraries.cupti = {"libcupti_of_nobody.so.13", FAKE_CUPTI};
  CHECK(machine.begin()->cupti_version() == 130001);
}

TEST_CASE("without a GPU CUPTI is not asked") {
  Machine machine;
  machine.cuda.initialise_answer = 100;
  machine.libraries.cupti = {"libcupti_of_nobody.so"};
  CHECK(says(machine.refusal(), "the driver finds no GPU"));
}

TEST_CASE("another profiler is noticed and named") {
  const Machine machine;
  machine.cupti.subscribe_answer = 39;
  machine.cupti.other_profiler = "Nsight Systems";
  const auto text = machine.refusal();
  CHECK(says(text, "another profiler is at work in this process: run without nsys"));
  CHECK(says(text, "(cuptiSubscribe_v2: CUPTI error 39); it is \"Nsight Systems\""));
}

TEST_CASE("an older CUPTI tells that there is another profiler, not which") {
  const Machine machine(FAKE_CUPTI_BEFORE_12_9);
  CHECK(machine.record({kernel(1, 2)}).activities.size() == 1);
  machine.cupti.subscribe_answer = 39;
  CHECK(says(machine.refusal(), "(cuptiSubscribe: CUPTI error 39)"));
}

TEST_CASE("a refusal by CUPTI is reported with what to do, at whatever call") {
  Machine machine;
  struct Meaning {
    int code;
    const char* says;
  };
  const auto [code, meaning] =
      GENERATE(Meaning{15, "update the driver"}, Meaning{23, "has switched CUPTI off"},
               Meaning{33, "virtual GPU"}, Meaning{35, "NVreg_RestrictProfilingToAdminUsers=0"},
               Meaning{40, "virtual GPU"}, Meaning{41, "confidential computing"},
               Meaning{42, "mining"}, Meaning{43, "MIG"}, Meaning{44, "SLI"}, Meaning{45, "WSL"},
               Meaning{999, "nvidia-smi"}, Meaning{8, "CUPTI failed"});
  const auto number = "CUPTI error " + std::to_string(code) + ")";
  const auto refused = [&](int& answer) {
    answer = code;
    const auto text = machine.refusal();
    answer = 0;
    CHECK(says(text, meaning));
    CHECK(says(text, number.c_str()));
    return text;
  };
  CHECK(says(refused(machine.cupti.subscribe_answer), "(cuptiSubscribe_v2"));
  CHECK(says(refused(machine.cupti.register_answer), "(cuptiActivityRegisterCallbacks"));
  CHECK(says(refused(machine.cupti.enable_answer), "(cuptiActivityEnable(10)"));
  CHECK(says(refused(machine.cupti.version_answer), "(cuptiGetVersion"));
}

TEST_CASE("a trace that does not begin leaves nothing switched on") {
  const Machine machine;
  machine.cupti.enable_answer = 35;
  machine.cupti.failing_kind = 22;
  machine.refusal();
  for (const auto* call : {"disable 10", "disable 1", "unsubscribe"}) {
    CHECK(std::ranges::find(machine.cupti.calls, call) != machine.cupti.calls.end());
  }
  machine.cupti.enable_answer = 0;
  CHECK(machine.record({kernel(1, 2)}).activities.size() == 1);
}

TEST_CASE("a flush or a count that fails ends with its reason") {
  const Machine machine;
  const auto trace = machine.begin();
  machine.cupti.flush_answer = 999;
  CHECK(says(trace->discard().error().message, "cuptiActivityFlushAll: CUPTI error 999"));
  CHECK(says(trace->end().error().message, "cuptiActivityFlushAll: CUPTI error 999"));
  machine.cupti.flush_answer = 0;
  machine.cupti.dropped_answer = 15;
  CHECK(says(trace->discard().error().message, "cuptiActivityGetNumDroppedRecords"));
  CHECK(says(trace->end().error().message, "cuptiActivityGetNumDroppedRecords"));
}

TEST_CASE("one trace at a time") {
  const Machine machine;
  const auto trace = machine.begin();
  const auto second = Trace::begin(machine.libraries);
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code == ErrorCode::conflict);
}

TEST_CASE("the time is CUPTI's, and 0 where it has none") {
  const Machine machine;
  const auto trace = machine.begin();
  machine.cupti.now_ns = 42;
  CHECK(trace->now_ns() == 42);
  machine.cupti.timestamp_answer = 999;
  CHECK(trace->now_ns() == 0);
}
