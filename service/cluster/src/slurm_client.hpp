#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/cluster/look.hpp"
#include "torchwatch/cluster/slurm_text.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::cluster {

/// A step to start in a job: one program that reads its input and answers on its output.
struct StepCall {
  std::string job;
  std::string name;
  std::filesystem::path program;  ///< as the node sees it
  int input = -1;                 ///< the descriptor that it reads
  std::chrono::seconds start_limit{20};
  /// Gets what the program and srun say, as it comes, on another thread: be quick.
  std::function<void(std::string_view)> on_output;
};

/// A job of one program that reads its input and answers on its output.
struct JobCall {
  std::string name;
  std::vector<std::string> options;
  std::filesystem::path program;
  std::string argument;
  std::string input;
  std::chrono::seconds time_limit{0};   ///< from its start to its end
  std::chrono::seconds queue_limit{0};  ///< until it starts
  std::size_t output_limit_bytes = 0;
};

/// Slurm's programs, as child processes and without a shell. Whose jobs it sees is this user's
/// alone. Thread-safe.
class SlurmClient {
 public:
  explicit SlurmClient(process::ProcessRunner& processes);

  /// Submits the script with these options and returns the job's number. Errors: invalid (Slurm
  /// refuses it as asked for), unavailable (then it may have been submitted all the same).
  Result<std::string> submit(std::vector<std::string> options, const std::string& script) const;
  /// Returns the jobs of that name that have not left the queue. Errors: unavailable.
  Result<std::vector<Job>> jobs(const std::string& name) const;
  /// Returns the jobs whose names begin so, with what follows in their names. Errors: unavailable.
  Result<std::vector<NamedJob>> jobs_beginning_with(const std::string& prefix) const;
  /// Returns the steps of a job. Errors: unavailable.
  Result<std::vector<Step>> steps(const std::string& job) const;
  /// Returns whether the node is to be given up, as its administrators wish. False where Slurm does
  /// not say.
  bool is_drained(const std::string& node) const;
  /// Ends jobs and steps; what has ended already stays as it is. Errors: unavailable.
  Status cancel(const std::vector<std::string>& ids) const;
  /// Copies a file to a path on the node of a job. Errors: unavailable.
  Status send(const std::string& job, const std::filesystem::path& file, const std::string& to,
              std::stop_token stop) const;
  /// Starts a step and waits for its end, which the job's own limit brings at the latest.
  process::ProcessOutcome run(const StepCall&, std::stop_token stop) const;
  /// Asks for a node, runs the program there and waits for its end.
  process::ProcessOutcome run(const JobCall&, std::stop_token stop) const;

 private:
  process::ProcessSpec call(const std::string& program, std::vector<std::string> arguments) const;
  Result<std::string> ask(const process::ProcessSpec&) const;

  process::ProcessRunner& processes_;
};

}  // namespace torchwatch::cluster
