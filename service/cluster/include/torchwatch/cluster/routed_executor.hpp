#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "torchwatch/executor/executor.hpp"

namespace torchwatch::cluster {

/// Hands each run to the executor of the machine class that measures its configuration. All runs of
/// a block are of one configuration. As thread-safe as those executors.
class RoutedExecutor final : public executor::Executor {
 public:
  struct Route {
    std::string machine_class;                  ///< for errors; empty: there is only one class
    std::vector<Configuration> configurations;  ///< empty: all
    executor::Executor* executor = nullptr;     ///< which outlives this
  };
  /// `routes`: at least one.
  explicit RoutedExecutor(std::vector<Route> routes);

  /// Errors: those of the executors, with the class; invalid: the configuration is in no class.
  Result<executor::RunOutcome> run(const executor::RunSpec& spec, std::stop_token stop) override;
  Result<std::array<executor::RunOutcome, 2>> run_pair(std::array<executor::RunSpec, 2> specs,
                                                       std::stop_token stop) override;
  Result<std::vector<executor::RunOutcome>> run_block(executor::RunBlock block,
                                                      std::stop_token stop) override;
  /// The node of the executor that had the newest run.
  std::string node() override { return newest_.load()->node(); }

 private:
  Result<const Route*> route_of(const executor::RunSpec&);

  std::vector<Route> routes_;
  std::atomic<executor::Executor*> newest_;
};

}  // namespace torchwatch::cluster
