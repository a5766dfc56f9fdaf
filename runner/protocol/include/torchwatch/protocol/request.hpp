#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::protocol {

inline constexpr int kSchema = 1;

/// Largest request that is read.
inline constexpr std::size_t kRequestBytesMax = 64U << 10U;

/// The limits that a runner puts on itself; the service enforces its own from outside as well.
struct RunLimits {
  std::int64_t time_ms = 120'000;
  std::int64_t memory_bytes = 0;  ///< 0: none
};

/// The pipes by which two interleaved processes hand the machine to each other: each process reads
/// one named pipe, one byte per message. Whoever starts the two holds both pipes open.
struct Interleave {
  std::string own;      ///< the pipe that this process reads
  std::string other;    ///< the pipe that the other process reads
  bool begins = false;  ///< this process computes first
  /// Both take samples of as many iterations, as a longer sample reads less: who begins says of how
  /// many. Runners alone know it.
  bool agrees = false;

  // The messages.
  static constexpr char kYours = 'y';  ///< you may compute
  static constexpr char kDone = 'd';   ///< I have measured everything: the machine stays yours
  static constexpr char kEnded = 'e';  ///< the other process has ended, whatever it still had to do
  static constexpr char kDoublings = 'A';  ///< and what follows: how often I have doubled my batch
  static constexpr int kDoublingsMax = 20;
};

/// The request to one fresh process: `torchwatch-runner measure REQUEST.json RESULT.json`.
struct Request {
  std::string attempt;  ///< the attempt this result will count for, repeated in the result
  Benchmark benchmark;
  Pass pass = Pass::timing;
  Preset preset = Preset::small;
  int warmup = 5;                           ///< iterations before the first sample
  int iterations = 30;                      ///< samples at most
  std::int64_t enough_ns = 500'000'000;     ///< timing: stop after this much measured time ...
  int iterations_min = 10;                  ///< ... but not with fewer samples than this
  std::int64_t batch_below_ns = 1'000'000;  ///< iterations shorter than this are timed in batches
  int leak_iterations = 40;  ///< memory pass: iterations whose live bytes are watched at most, 0 or
                             ///< at least 20 (two blocks of ten)
  std::uint64_t seed = 1337;
  /// Timing: waits after each iteration, inside the sample, for this share of the iteration's time.
  /// A drill plants that, to see that the service finds a slowdown of known size.
  double planted_slowdown = 0;
  /// Where times are stated: run on one of several cores; the environment states which.
  bool pin_to_core = true;
  /// Likewise: fix glibc's thresholds, so that page faults do not depend on the heap's history;
  /// false keeps glibc's own, which shows allocation churn.
  bool fixed_heap = true;
  /// Timing, and profile with `operators`: the process to interleave with; empty: the process
  /// measures without a partner.
  std::optional<Interleave> interleave;
  /// Profile: the file for a Chrome trace of one iteration, for people; empty: no such file.
  std::string chrome_trace;
  RunLimits limits;
  /// Backend aot_inductor: the file that the compiler made of this workload's graph.
  std::string package;
  /// What an external workload must state of this pass; empty: all that the runner gives.
  std::vector<Metric> metrics;
  /// Let processors count numbers next to zero as zero, where they can.
  bool flush_denormals = false;
  /// Training: fill gradients with zeros where they are usually dropped.
  bool zero_gradients = false;
  /// Memory: also state what the workload computes from weights and inputs that a formula fills,
  /// after everything else.
  bool outputs = false;
  /// Profile, on a CPU: state what each operator takes.
  bool operators = false;
};

/// Whether figures of its answer are times, which depend on where and beside what it runs.
bool is_timed(const Request&);

/// Writes the request on one line, with every member, also those that have their default; without
/// `planted_slowdown`, `package`, `metrics` and `operator` where there are none, and without
/// `flush_denormals`, `zero_gradients`, `outputs` and `operators` where they are false.
std::string to_json(const Request&);
/// Reads a request. Only `schema`, `attempt`, `workload`, `device` and `mode` are required; the
/// rest has the defaults above. Errors: corrupt (not JSON), invalid (also for unknown members),
/// naming the member and what is allowed.
Result<Request> parse_request(std::string_view json);

}  // namespace torchwatch::protocol
