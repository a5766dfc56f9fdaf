#pragma once

#include "torchwatch/builds/commit_builder.hpp"
#include "torchwatch/channel/channel.hpp"
#include "torchwatch/comparison/progress.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/executor/executor.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/kits/kit_store.hpp"
#include "torchwatch/packages/package_store.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/random.hpp"
#include "torchwatch/signals/interrupts.hpp"
#include "torchwatch/source/clone.hpp"

namespace torchwatch::comparison {

/// Makes runners that fit a build. Implemented with kits::KitStore, and by scripts in tests.
class RunnerSource {
 public:
  virtual ~RunnerSource() = default;
  /// Returns a kit with the runner for those workloads. Errors: those of kits::KitStore.
  virtual Result<kits::Kit> kit_for(const builds::Tree&, const std::vector<std::string>& workloads,
                                    std::stop_token stop) = 0;
  virtual Result<std::vector<std::string>> workloads() const = 0;
};

/// Everything that the pipeline works with. The application owns the parts, which outlive this.
struct Services {
  const config::Config& config;
  storage::Database& database;
  executor::Executor& executor;
  RunnerSource& runners;
  channel::Channel& channel;
  bisect::CommitHistory* history = nullptr;  ///< null without [source]
  builds::CommitBuilder* commits = nullptr;  ///< null without [build] recipe
  const platform::Clock& clock;
  platform::Random& random;
  Progress& progress;
  channel::Channel* releases = nullptr;        ///< the package index; null in tests without one
  source::Clone* source = nullptr;             ///< null where [source] is a path, or nothing
  signals::Interrupts* interrupts = nullptr;   ///< null where nobody can cancel what is under way
  signals::LastRun* last_run = nullptr;        ///< null where nobody can ask for a last run
  executor::Lanes* lanes = nullptr;            ///< null where all runs take place on one machine
  packages::PackageStore* packages = nullptr;  ///< null where no code of others is compiled
};

}  // namespace torchwatch::comparison
