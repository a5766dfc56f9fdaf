#pragma once

#include "torchwatch/bisect/commit_history.hpp"
#include "torchwatch/builds/commit_builder.hpp"
#include "torchwatch/builds/kit_store.hpp"
#include "torchwatch/channel/channel.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/doors/clock.hpp"
#include "torchwatch/doors/random.hpp"
#include "torchwatch/executor/executor.hpp"
#include "torchwatch/nightly/progress.hpp"
#include "torchwatch/storage/database.hpp"

namespace torchwatch::nightly {

/// Makes a runner that fits a build. The real one is builds::KitStore; tests hand out scripts.
class RunnerSource {
 public:
  virtual ~RunnerSource() = default;
  virtual Result<builds::Kit> kit_for(const builds::Tree&,
                                      const std::vector<std::string>& workloads,
                                      std::stop_token stop) = 0;
  virtual Result<std::vector<std::string>> workloads() const = 0;
};

/// Everything the pipeline works with. Owned by whoever starts it; outlives it.
struct Workshop {
  const config::Config& config;
  storage::Database& database;
  executor::Executor& executor;
  RunnerSource& runners;
  channel::Channel& channel;
  bisect::CommitHistory* history = nullptr;  ///< none without [source]
  builds::CommitBuilder* commits = nullptr;  ///< none without [build] recipe
  const doors::Clock& clock;
  doors::Random& random;
  Progress& progress;
};

}  // namespace torchwatch::nightly
