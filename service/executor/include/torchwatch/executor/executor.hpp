#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include "torchwatch/protocol/request.hpp"
#include "torchwatch/protocol/result.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::executor {

/// One run to be carried out: a runner kit, the libraries it shall load, and what to measure.
struct RunOrder {
  protocol::Request request;        ///< request.attempt is the token the result must repeat
  std::filesystem::path runner;     ///< the kit's executable
  std::filesystem::path libraries;  ///< folder of the build's lib/: first in LD_LIBRARY_PATH
};

/// The run took place and left no usable result: crashed, hung, flooded, lied.
struct RunFailure {
  std::string reason;  ///< "killed by signal 11 (SIGSEGV)", "result of another attempt", ...
  std::string output;  ///< the end of what it printed
};

using RunOutcome = std::variant<protocol::RunResult, RunFailure>;

using RunId = std::int64_t;

/// Where runs happen. A result counts only for the attempt that was issued. Thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Errors: unavailable (cannot start anything here).
  virtual Result<RunId> submit(const RunOrder&) = 0;
  /// Waits until the run has ended. Errors: cancelled (by `stop`; the run is ended), unavailable
  /// (the executor itself failed: the run did not take place), not_found.
  virtual Result<RunOutcome> wait(RunId, std::stop_token stop) = 0;
  virtual Status cancel(RunId) = 0;
  /// Two runs of timing passes that are alive at once and take turns, sample by sample, the first
  /// of them first; waits until both have ended. When one ends early, the other goes on alone. The
  /// orders' `request.turns` are set here. Errors: as submit and wait; then neither counts.
  virtual Result<std::array<RunOutcome, 2>> run_in_turns(std::array<RunOrder, 2>,
                                                         std::stop_token stop) = 0;
};

}  // namespace torchwatch::executor
