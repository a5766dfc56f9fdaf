#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::protocol {

inline constexpr int kSchema = 1;

/// Largest request that is read.
inline constexpr std::size_t kRequestBytesMax = 64U << 10U;

/// Limits a runner puts on itself; the service enforces its own from outside as well.
struct RunLimits {
  std::int64_t time_ms = 120'000;
  std::int64_t memory_bytes = 0;  ///< 0: none
};

/// How a process takes turns with another one: what each hears comes from a named pipe, as one
/// byte a message. Both pipes are held open by whoever starts the two.
struct Turns {
  std::string own;      ///< the pipe that this process reads
  std::string other;    ///< the one that the other process reads
  bool begins = false;  ///< has the first turn

  /// The messages.
  static constexpr char kYours = 'y';  ///< it is your turn
  static constexpr char kDone = 'd';   ///< I have measured everything: the turns left are yours
  static constexpr char kEnded = 'e';  ///< the other process has ended, whatever it had to do
};

/// What one fresh process is asked to measure: `torchwatch-runner measure REQUEST.json
/// RESULT.json`.
struct Request {
  std::string attempt;  ///< the attempt this result will count for, repeated in the result
  Cell cell;
  Pass pass = Pass::timing;
  Preset preset = Preset::small;
  int warmup = 5;                           ///< iterations before the first sample
  int iterations = 30;                      ///< samples at most
  std::int64_t enough_ns = 500'000'000;     ///< timing: stop after this much measured time ...
  int iterations_min = 10;                  ///< ... but not with fewer samples than this
  std::int64_t batch_below_ns = 1'000'000;  ///< iterations shorter than this are timed in batches
  int leak_iterations = 40;  ///< memory pass: iterations whose live bytes are watched, 0 or
                             ///< at least 20 (two blocks of ten)
  std::uint64_t seed = 1337;
  /// Timing: run on one core where there are several; the choice is stated in the environment.
  bool pin_to_core = true;
  /// Timing: glibc's thresholds fixed, so that page faults do not depend on the heap's history
  /// (never in the memory pass); false keeps glibc's own, which shows allocation churn.
  bool fixed_heap = true;
  /// Timing: with whom; none: the process measures alone.
  std::optional<Turns> turns;
  /// Profile: the file that gets one iteration as a Chrome trace, for people; empty: none.
  std::string chrome_trace;
  RunLimits limits;
};

/// One line. Every member is written, also those that have their default.
std::string to_json(const Request&);
/// Only `schema`, `attempt`, `workload`, `device` and `mode` are required; the rest has the
/// defaults above. Errors: corrupt (not JSON), invalid, naming the member and what is allowed.
/// Unknown members are errors.
Result<Request> parse_request(std::string_view json);

}  // namespace torchwatch::protocol
