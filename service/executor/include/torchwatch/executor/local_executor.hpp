#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "torchwatch/doors/process.hpp"
#include "torchwatch/executor/executor.hpp"

namespace torchwatch::executor {

class AttemptFolder;

/// Runs as child processes of this machine, one at a time, or two that take turns: neighbours would
/// disturb the numbers. A run starts when it is waited for.
class LocalExecutor final : public Executor {
 public:
  struct Settings {
    /// Added to the fixed environment; equal for every run, else runs are not comparable.
    std::map<std::string, std::string> environment;
    int threads = 1;        ///< for a variant that names no number
    std::vector<int> cpus;  ///< runs are pinned to these; empty: the runner places itself
    /// The threads of a run on a CPU that has several are each bound to a core. For runs of raised
    /// priority: at a plain one neighbours land on cores that one cannot leave.
    bool bind_threads = false;
    /// On top of the time limit in the request, which the runner keeps by itself where it can.
    std::chrono::milliseconds grace{10'000};
    std::size_t output_limit_bytes = 1U << 20U;
    /// A run cannot have measured longer than it lived; batches are rounded, so by so much.
    std::chrono::milliseconds rounding{1000};
  };

  /// `scratch`: folder for what a run needs; made if missing. One executor a scratch folder.
  LocalExecutor(doors::ProcessRunner&, std::filesystem::path scratch, Settings);

  /// Errors: invalid (attempt id that cannot name a folder), unavailable (no runner, no
  /// libraries, scratch cannot be made).
  Result<RunId> submit(const RunOrder&) override;
  Result<RunOutcome> wait(RunId, std::stop_token stop) override;
  Status cancel(RunId) override;
  Result<std::array<RunOutcome, 2>> run_in_turns(std::array<RunOrder, 2>,
                                                 std::stop_token stop) override;

  /// Removes what attempts and placements of a killed daemon left in the scratch folder. To be
  /// called at start, while the machine lock is held.
  Status sweep();

 private:
  struct Run {
    RunOrder order;
    std::stop_source stop;
  };

  Result<std::shared_ptr<Run>> find(RunId);
  void forget(RunId);
  class Hold;

  Result<RunOutcome> carry_out(const RunOrder&, const AttemptFolder&, std::stop_source&);
  doors::ProcessSpec make_spec(const protocol::Request&, const std::filesystem::path& folder) const;

  doors::ProcessRunner& processes_;
  std::filesystem::path scratch_;
  Settings settings_;
  std::mutex mutex_;
  std::condition_variable_any turn_;
  bool is_busy_ = false;                        ///< guarded by mutex_
  RunId last_id_ = 0;                           ///< guarded by mutex_
  std::map<RunId, std::shared_ptr<Run>> runs_;  ///< guarded by mutex_
};

}  // namespace torchwatch::executor
