#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "slurm_client.hpp"
#include "torchwatch/orders/order.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::cluster {

/// The one step of a job by which all orders of a lane reach its node: torchwatch-carry reads them
/// line by line and answers each, until its input ends. One order at a time; not thread-safe.
class OrderStep {
 public:
  /// Starts the step.
  OrderStep(const SlurmClient&, StepCall);
  /// Ends the step, and waits until its srun has ended.
  ~OrderStep();
  OrderStep(const OrderStep&) = delete;
  OrderStep& operator=(const OrderStep&) = delete;

  /// Sends an order and waits for its answer: exit status 0 and the answer as its output. Where the
  /// step ends meanwhile: how it ended, and what was said until then. TimedOut, Cancelled and
  /// OutputLimit leave the order under way: then this step has to be ended.
  process::ProcessOutcome carry_out(const orders::Order&, std::chrono::seconds limit,
                                    std::stop_token stop);
  bool has_ended() const;

 private:
  bool send(const std::string& line) const;
  void hear(std::string_view text);
  void note_end(process::ProcessOutcome);
  process::ProcessEnd end_of_wait(const std::stop_token& stop) const;

  UniqueFd orders_;  ///< what the step reads, at our end of it
  UniqueFd input_;   ///< and at its end

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  const orders::Order* awaited_ = nullptr;
  std::string heard_;        ///< since the order was sent
  std::size_t line_at_ = 0;  ///< where in it the last line begins that has no end yet
  bool is_answered_ = false;
  std::optional<process::ProcessOutcome> end_;
  std::jthread step_;
};

}  // namespace torchwatch::cluster
