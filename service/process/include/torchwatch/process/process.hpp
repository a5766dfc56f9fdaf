#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::process {

/// Where programs are looked for if a child's environment has no PATH.
inline constexpr const char* kDefaultSearchPath = "/usr/local/bin:/usr/bin:/bin";
/// The descriptor on which a launcher reports; the child's program does not inherit it.
inline constexpr int kLauncherStatus = 3;

/// A child process: program, arguments (no shell anywhere), whole environment, limits. The limits
/// are required: nothing runs without them.
struct ProcessSpec {
  std::filesystem::path program;  ///< without a slash: looked up in the environment's PATH
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  ///< all of it; nothing is inherited
  std::filesystem::path working_folder;
  std::chrono::milliseconds time_limit;
  std::size_t output_limit_bytes;       ///< stdout and stderr together; more ends the child
  std::int64_t memory_limit_bytes = 0;  ///< resident bytes of the tree; 0: no limit, and no polling
  std::string label;      ///< what the child works for; it gets it as TORCHWATCH_ATTEMPT
  std::vector<int> cpus;  ///< pinned to these; empty: the kernel chooses
  /// bwrap and its arguments, which starts the program: the child is then bwrap, and it ends with
  /// the program and everything that the program started. What it reports as the program's end
  /// (--json-status-fd kLauncherStatus) counts as the child's. Empty: the program is started
  /// itself.
  std::vector<std::string> launcher = {};
  /// Highest priority, if this process may give it; with a session of its own also within that. It
  /// is taken before the launcher runs: a user namespace refuses it even to root.
  bool raise_priority = false;
  /// A session of its own: the kernel shares the processor out by session (autogroup), so only then
  /// does a priority count for the child alone. With a launcher it always gets one, so that it has
  /// no terminal to type into.
  bool own_session = false;
  std::string input = {};  ///< what its standard input holds; it never is a file of the disk
  /// Its standard input instead; the caller keeps it open until the child has ended.
  int input_descriptor = -1;
  /// Called once with the child's pid when it runs, on the supervisor's thread: be quick.
  std::function<void(std::int64_t pid)> on_started;
  /// Gets what the child prints as it comes, on the supervisor's thread: be quick. Then nothing of
  /// it is kept, and `output_limit_bytes` bounds nothing.
  std::function<void(std::string_view text)> on_output = {};
};

struct Exited {
  int code = 0;
};
struct Signalled {
  int signal = 0;
};
struct TimedOut {};
struct OutputLimit {};
struct MemoryLimit {
  std::int64_t resident_bytes = 0;
};
struct Cancelled {};
struct SpawnFailed {
  std::string reason;
};
/// Did not end where it was given to: the machine that it ran on is to blame, not the child.
struct Lost {
  std::string reason;
};
struct Abandoned {};  ///< did not die of SIGKILL (uninterruptible); the machine stays locked

using ProcessEnd = std::variant<Exited, Signalled, TimedOut, OutputLimit, MemoryLimit, Cancelled,
                                SpawnFailed, Abandoned, Lost>;

struct ProcessOutcome {
  ProcessEnd end;
  std::string output;      ///< the last `output_limit_bytes` of stdout and stderr, interleaved
  bool pipe_held = false;  ///< a descendant kept the pipe after the child had ended
  std::chrono::nanoseconds duration{0};
};

bool succeeded(const ProcessOutcome&);    ///< exited with 0
std::string describe(const ProcessEnd&);  ///< "exit status 3", "killed by signal 11 (SIGSEGV)"

/// Whether an environment variable is one by which a child is recognised: each child gets its own.
bool is_tag_variable(std::string_view name);

/// Runs children. One supervisor thread owns them all (PDEATHSIG fires when the thread that
/// forked ends) and kills whole process groups and their descendants. No wait is unbounded.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  /// Runs to the end. Thread-safe. `stop` ends the child (SIGTERM, grace, SIGKILL). While a child
  /// that was Abandoned still lives, every run is SpawnFailed: it would share the machine with it.
  virtual ProcessOutcome run(const ProcessSpec&, std::stop_token stop = {}) = 0;
};

/// Makes the runner of real processes. First it kills what an earlier daemon with the same `owner`
/// left running: processes whose environment holds TORCHWATCH_OWNER=owner and whose daemon has
/// ended. Makes this process the subreaper of its descendants.
std::unique_ptr<ProcessRunner> make_process_runner(std::string owner);

/// Returns the first executable of that name in `folders`, separated by colons as in PATH; an empty
/// one is the working folder. Empty if there is none.
std::string find_program(const std::string& name, const std::string& folders);

/// Whether this process, and so its children, may take the highest priority. Thread-safe.
bool may_raise_priority();

}  // namespace torchwatch::process
