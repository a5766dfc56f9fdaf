#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torchwatch::test {

/// A record as the fake CUPTI writes it, in CUPTI's own layout.
struct FakeRecord {
  int kind = 10;  ///< as CUpti_ActivityKind; 10 is a kernel
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint8_t copy_kind = 0;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;
  std::uint32_t stream = 7;
  const char* name = "_Z4gemmPf";
};

/// When the fake gives a flushed buffer back.
enum class Delivery {
  at_once,
  late,   ///< from another thread, once the flush has returned
  never,  ///< keeps it, full
};

/// What the fake CUPTI answers and what it was asked. A library's one instance is
/// `fake_cupti_state()`.
struct FakeCupti {
  // What each function answers; the last for the kind `failing_kind` alone.
  int version_answer = 0;
  int timestamp_answer = 0;
  int subscribe_answer = 0;
  int register_answer = 0;
  int flush_answer = 0;
  int dropped_answer = 0;
  int enable_answer = 0;
  int failing_kind = 10;

  std::uint32_t version = 130001;
  bool tells_real_time = false;  ///< instead of `now_ns`
  std::uint64_t now_ns = 1'000'000'000'000;
  const char* other_profiler = "";
  std::size_t dropped = 0;
  Delivery delivery = Delivery::at_once;
  bool keeps_an_empty_buffer = false;
  bool returns_strange_buffers = false;  ///< null, and one that was never handed out

  std::vector<FakeRecord> pending;  ///< what the device did since the last flush
  std::vector<std::string> calls;   ///< "enable 10", "flush 1", ...
};

/// The same of the fake CUDA driver.
struct FakeCuda {
  int initialise_answer = 0;
  int count_answer = 0;
  int devices = 1;
  const char* place = "0000:3b:00.0";  ///< of its device on the PCI bus
};

}  // namespace torchwatch::test
