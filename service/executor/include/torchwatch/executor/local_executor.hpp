#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "torchwatch/executor/executor.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::executor {

class AttemptFolder;

/// What a runner sees of a kit and of the libraries that it loads.
sandbox::Profile profile_of_runner(const std::filesystem::path& runner,
                                   const std::filesystem::path& libraries);

/// Returns the variables by which the machine's owner, or Slurm, says which GPUs a run may use:
/// CUDA_VISIBLE_DEVICES, if this process has it. A run's own environment is fixed, and without them
/// it would measure on another one's GPU.
std::map<std::string, std::string> device_environment();

/// Carries out runs as child processes of this machine: one run or one interleaved pair at a time,
/// as neighbours would disturb the numbers. Further calls wait.
class LocalExecutor final : public Executor {
 public:
  struct Settings {
    /// Added to the fixed environment; equal for every run, or else runs are not comparable.
    std::map<std::string, std::string> environment;
    int threads = 1;        ///< for a variant that names no number
    std::vector<int> cpus;  ///< runs are pinned to these; empty: as `bind_to_cores` says
    /// A timed run of one thread stays on the highest core from its start, so that loading its
    /// libraries at raised priority keeps nobody else waiting; of several threads on a CPU each is
    /// bound to a core. For runs of raised priority: at plain priority neighbours land on cores
    /// that a bound thread cannot leave.
    bool bind_to_cores = false;
    /// Added to the request's time limit, which the runner enforces itself where it can.
    std::chrono::milliseconds grace{10'000};
    std::size_t output_limit_bytes = 1U << 20U;
    /// A run cannot have measured longer than it lived, apart from the rounding of its samples.
    std::chrono::milliseconds rounding{1000};
    /// Every run is confined alike; its kind is the fact "sandbox" of the run's environment.
    sandbox::Sandbox sandbox = {};
  };

  /// `scratch`: folder for what a run needs; made if missing. One executor per scratch folder.
  LocalExecutor(process::ProcessRunner&, std::filesystem::path scratch, Settings);

  /// Keeps a trace, compressed, where `request.chrome_trace` names a file. Errors: as declared;
  /// unavailable also where runner, libraries or scratch folder are missing, or the disk is too
  /// full for fresh copies.
  Result<RunOutcome> run(const RunSpec& asked, std::stop_token stop) override;
  Result<std::array<RunOutcome, 2>> run_pair(std::array<RunSpec, 2> specs,
                                             std::stop_token stop) override;

  /// Removes what attempts and placements of a killed daemon left in the scratch folder. Call at
  /// start, while the machine lock is held. Errors: unavailable.
  Status sweep();

 private:
  class Hold;

  Result<RunOutcome> carry_out(const RunSpec&, const AttemptFolder&, std::stop_source&);
  /// Sets what a run starts: the kit's runner, or somebody's own command with its variables.
  static void set_program(process::ProcessSpec&, const RunSpec&, const AttemptFolder&);
  process::ProcessSpec make_spec(const protocol::Request&,
                                 const std::filesystem::path& folder) const;

  process::ProcessRunner& processes_;
  std::filesystem::path scratch_;
  Settings settings_;
  std::mutex mutex_;
  std::condition_variable_any freed_;
  bool is_busy_ = false;  ///< guarded by mutex_
};

}  // namespace torchwatch::executor
