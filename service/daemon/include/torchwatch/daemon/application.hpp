#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/caches/caches.hpp"
#include "torchwatch/channel/channel.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/daemon/github_access.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/executor/machine_lock.hpp"
#include "torchwatch/health/activity.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/pulls/pulls.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::daemon {

/// What may be done with the database.
enum class Access {
  work,    ///< everything, by the one process that works on it
  change,  ///< short changes beside that one, such as decisions of people
  read,
};

/// Owns everything that measuring and searching needs, opened from a configuration: the database
/// (as the one process that works on it), the supervisor of children, the executor, kits, commit
/// builds, the repository, the channel. Not thread-safe.
class Application {
 public:
  /// Opens everything. Stages, children, fetches and builds are recorded in the log. Tests hand in
  /// `runners` in place of the kits, and a clock. What is passed by reference must outlive the
  /// application. Errors: conflict (another process works on this database, or measures on this
  /// machine: named), invalid and not_found (what the configuration names), unavailable.
  static Result<std::unique_ptr<Application>> open(config::Config, comparison::Progress&, log::Log&,
                                                   comparison::RunnerSource* runners = nullptr,
                                                   const platform::Clock* clock = nullptr);
  /// Opens everything beside the process that works on the database, for a look or for a change.
  /// Errors: those of `open`, and not_found (no database yet).
  static Result<std::unique_ptr<Application>> open_beside(config::Config, Access,
                                                          comparison::Progress&, log::Log&);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  comparison::Services& services();
  const config::Config& config() const;
  bool is_reader() const;  ///< opened for reading: the stores refuse to write
  log::Log& log();
  /// The wheel index, for BUILD arguments that name a release, whatever [channel] is.
  channel::Channel& releases();
  process::ProcessRunner& processes();
  health::Activity& activity();             ///< what is being done; thread-safe
  const sandbox::Sandbox& sandbox() const;  ///< confines the children
  pulls::PullParts pull_parts();            ///< what compares pull requests; refers to this
  GithubAccess& github();                   ///< who torchwatch is there; thread-safe
  /// Takes the machine's lock unless it is held, until unlock_machine or the application's end.
  /// Errors: conflict, naming who measures.
  Status lock_machine();
  void unlock_machine();

 private:
  struct Parts;
  explicit Application(std::unique_ptr<Parts>);
  static Result<std::unique_ptr<Application>> assemble(std::unique_ptr<Parts>,
                                                       comparison::RunnerSource* runners);
  std::unique_ptr<Parts> parts_;
};

/// Returns what the application's caches are looked after with.
caches::Parts cache_parts(Application&);

/// Returns [build] kit_sources, or the sources of this program: kits are compiled from models/ and
/// runner/ there, and deploy/libtorch makes trees from wheels.
std::filesystem::path source_folder(const config::Config&);

/// Returns how the index of [channel] is read, in that sandbox.
channel::WheelIndexSettings index_settings(const config::Config&, const sandbox::Sandbox&);

/// Returns the names of the suite's workloads, from the sources of the runner. Errors: not_found,
/// invalid.
Result<std::vector<std::string>> suite_workloads(const config::Config&);

/// Checks that a configuration's database exists. Errors: not_found, saying which command makes it.
Status require_database(const config::Config&);

/// Opens a configuration's database for reading, also while a daemon runs. Errors: those of
/// require_database as well.
Result<std::unique_ptr<storage::Database>> open_reader(const config::Config&);

}  // namespace torchwatch::daemon
