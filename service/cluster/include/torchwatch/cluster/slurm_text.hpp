#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::cluster {

/// What Slurm's states come to for a lane. A state that is not known counts as waiting.
enum class JobState {
  waiting,  ///< for a node, or for anything else
  running,
  ended,  ///< or about to: nothing can be started in it
};

/// A job as squeue lists it.
struct Job {
  std::string id;
  JobState state = JobState::waiting;
  std::string word;                          ///< Slurm's own word for the state
  std::optional<std::chrono::seconds> left;  ///< of its time limit; none: without a limit
  std::string node;
  std::string reason;  ///< why it waits
};

struct Step {
  std::string id;  ///< "4711.3"
  std::string name;
};

/// What `squeue -o` is asked for, so that parse_jobs and parse_steps can read it.
inline constexpr const char* kJobFormat = "%i|%T|%L|%N|%r";
inline constexpr const char* kStepFormat = "%i|%j";

/// Reads what `sbatch --parsable` prints: the job's number, perhaps with ";cluster". A site's
/// wrapper may print more before it. Errors: unavailable.
Result<std::string> parse_job_id(std::string_view answer);
/// Reads lines of kJobFormat. Errors: unavailable (another line).
Result<std::vector<Job>> parse_jobs(std::string_view answer);
/// Reads lines of kStepFormat, without the steps that are Slurm's own (batch, extern).
std::vector<Step> parse_steps(std::string_view answer);
/// Reads "1-02:03:04", "2:03:04", "3:04"; nothing for UNLIMITED and any other text.
std::optional<std::chrono::seconds> parse_time_left(std::string_view text);

/// What srun's or sbatch's own messages say of an end.
enum class Cause {
  unknown,
  unreachable,  ///< the controller does not answer, or takes no more jobs now: later it may
  refused,      ///< what was asked for is never granted: partition, account, QOS, limit, option
  job_gone,     ///< the job has ended, is cancelled or out of time
  node,         ///< the node failed, or nothing can be started there
  memory,       ///< Slurm's memory limit ended the step
};
Cause cause_of(std::string_view messages);

/// Returns whether a job that waits for this reason never starts as it was asked for.
bool is_hopeless(std::string_view reason);

/// Returns the last line that says why, cut to what fits a sentence, as printable text.
std::string last_message(std::string_view messages);

}  // namespace torchwatch::cluster
