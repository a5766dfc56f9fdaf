#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "order_step.hpp"
#include "slurm_client.hpp"
#include "torchwatch/cluster/lane.hpp"
#include "torchwatch/cluster/slurm_executor.hpp"

namespace torchwatch::cluster {

/// One job that holds a node, from asking for it to giving it back. Not thread-safe.
class HeldLane {
 public:
  HeldLane(process::ProcessRunner&, const platform::Clock&,
           const SlurmExecutor::Settings& settings);

  /// Waits until the lane holds a node for at least that long, and nothing of an earlier order is
  /// alive in it. Calls `waits` before it begins to wait. Errors: cancelled; unavailable (no node
  /// within the limit, no time that long, Slurm refuses the job).
  Status make_ready(
      std::chrono::seconds needed, std::stop_token stop,
      const std::function<void()>& waits = [] {});
  /// Whether the job that make_ready has found lasts that long.
  bool has_time_for(std::chrono::seconds needed) const;
  /// Carries out the order on the node of the job that make_ready has found.
  process::ProcessOutcome run(const orders::Order&, std::chrono::seconds limit,
                              std::stop_token stop);
  /// Sends the node what it lacks of an order's copies. Errors: unavailable.
  Status send(const orders::Order&, const orders::Lack&, const std::stop_token& stop);
  /// Ends the step whose order was lost, and what it may have left: Slurm's own end of it may come
  /// later.
  void end_step();
  void note_success() { losses_in_a_row_ = 0; }
  /// Gives the node back where it is to blame, or cannot be used any more.
  void note_loss(Cause);
  /// Ends the lane's jobs. Errors: unavailable.
  Status release();

  const std::string& node() const { return node_; }

 private:
  void wait_for(const std::string& why);
  Status look(std::chrono::seconds needed);
  Status follow(const LaneStep&);
  Status submit();
  Status adopt(const Job&);
  Status give_back(const std::string& why);
  bool is_fresh(std::chrono::seconds needed) const;

  SlurmClient client_;
  const platform::Clock& clock_;
  const SlurmExecutor::Settings& settings_;
  std::unique_ptr<OrderStep> step_;  ///< of job_
  std::string job_;                  ///< that can be used; empty: none
  std::string node_;                 ///< of the last job that could be used
  std::string waits_for_;
  std::chrono::nanoseconds looked_at_{0};
  std::optional<std::chrono::nanoseconds> ends_at_;  ///< of the job's own limit
  std::vector<std::string> bad_nodes_;
  bool is_asked_for_ = false;  ///< a job of the lane may exist
  int losses_in_a_row_ = 0;
};

}  // namespace torchwatch::cluster
