#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/cluster/routed_executor.hpp"
#include "torchwatch/executor/executor.hpp"
#include "torchwatch/orders/order.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::cluster {

/// Carries out runs on a node of a Slurm cluster. It holds one lane: a job that only waits, in
/// which one step of `torchwatch-carry` takes each run, or each block of runs. The lane is asked
/// for at the first run, found again by its name after a restart, and given back when this object
/// ends. One order at a time; further calls wait.
class SlurmExecutor final : public executor::Executor {
 public:
  struct Settings {
    std::string name;                          ///< of the lane's job, this service's alone
    std::vector<std::string> options;          ///< handed to sbatch
    std::filesystem::path program;             ///< torchwatch-carry, as the nodes see it
    std::string lane_script;                   ///< the text of deploy/cluster/lane
    std::chrono::seconds time{4 * 3600};       ///< asked for per allocation
    std::chrono::seconds idle{600};            ///< a node without runs is given back
    std::chrono::seconds queue_limit{43'200};  ///< for a node to come, and for the controller
    std::chrono::seconds start_limit{20};      ///< of a step
    std::chrono::milliseconds poll{2000};      ///< from one look at the queue to the next
    bool copies = false;  ///< of builds and kits, on the nodes, which do not see the service's
    orders::CarrySettings carry;
    /// Gets what people may want to know: a node that came, an order that was lost and why.
    std::function<void(const std::string&)> log = [](const std::string&) {};
  };

  SlurmExecutor(process::ProcessRunner&, const platform::Clock&, Settings);
  ~SlurmExecutor() override;
  SlurmExecutor(const SlurmExecutor&) = delete;
  SlurmExecutor& operator=(const SlurmExecutor&) = delete;

  /// Errors: those of Executor and of a lane (executor::Lanes). unavailable: no node came within
  /// the limit, Slurm refuses what the configuration asks for, the order was lost three times, or
  /// its limits do not fit an allocation; it says which.
  Result<executor::RunOutcome> run(const executor::RunSpec& spec, std::stop_token stop) override;
  Result<std::array<executor::RunOutcome, 2>> run_pair(std::array<executor::RunSpec, 2> specs,
                                                       std::stop_token stop) override;
  Result<std::vector<executor::RunOutcome>> run_block(executor::RunBlock block,
                                                      std::stop_token stop) override;

  std::string node() override;

  /// Holds a node, as executor::Lanes does for a lane.
  Result<std::string> hold(std::chrono::seconds longest, const std::function<void()>& waits,
                           std::stop_token stop);
  /// Ends the lane's job, if there is one. Errors: unavailable.
  Status release();

 private:
  class Lane;
  struct Loss;
  struct Said;
  static std::optional<Loss> loss_of(const process::ProcessOutcome&, const orders::Answer&,
                                     const orders::Order&);
  Status require_node(const std::string& wanted) const;
  bool is_one_order(const executor::RunBlock&) const;
  Said ask(const orders::Order&, std::chrono::seconds limit, const std::stop_token& stop);
  Result<std::vector<executor::RunOutcome>> carry_out(executor::RunBlock, std::stop_token);

  Settings settings_;
  mutable std::mutex mutex_;  ///< held for an order
  std::unique_ptr<Lane> lane_;
};

/// The lanes of one machine class.
struct LaneClass {
  std::string name = {};                           ///< empty: there is one class, without a name
  std::vector<Configuration> configurations = {};  ///< that are measured there; empty: all
  SlurmExecutor::Settings settings;                ///< `name`: of the first lane, see lane_name
  int count = 1;                                   ///< at least 1
};

/// Several lanes, each with an executor and a name of its own.
class SlurmLanes final : public executor::Lanes {
 public:
  SlurmLanes(process::ProcessRunner&, const platform::Clock&, const std::vector<LaneClass>&);

  int count() const override { return static_cast<int>(lanes_.size()); }
  std::string machine_class(int number) const override { return at(number).machine_class; }
  SlurmExecutor& lane(int number) override { return *at(number).executor; }
  /// Carries out each run on the first lane of the class that measures its configuration.
  executor::Executor& first_lanes() { return *first_lanes_; }
  Result<std::string> hold(int number, std::chrono::seconds longest,
                           const std::function<void()>& waits, std::stop_token stop) override;
  void give_back(int number) override;

 private:
  struct Lane {
    std::string machine_class;
    std::unique_ptr<SlurmExecutor> executor;
  };
  const Lane& at(int number) const { return lanes_.at(static_cast<std::size_t>(number)); }

  std::vector<Lane> lanes_;
  std::unique_ptr<RoutedExecutor> first_lanes_;
};

/// Returns the name of a service's first lane: of the machine and the database that it works on, so
/// that it finds its jobs again and touches nobody else's; and of its machine class, if that has a
/// name.
std::string lane_name(const std::filesystem::path& database, const std::string& machine_class = {});

/// Returns what people call the lane whose job's name ends so, behind what the names of all jobs of
/// the service begin with: "lane 0", "lane 0 of h100"; empty for another job.
std::string lane_text(const std::string& end_of_name);

}  // namespace torchwatch::cluster
