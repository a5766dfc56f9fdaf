#pragma once

#include <chrono>
#include <optional>

#include "torchwatch/protocol/request.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::runner {

/// Lets two processes measure alternately, sample by sample: one computes while the other sleeps,
/// so that a disturbance of the machine hits both alike. Without a partner every call returns at
/// once. Call from one thread.
class Interleave {
 public:
  /// Measures without a partner.
  Interleave() = default;
  /// Opens the pipes to the partner. Errors: unavailable (a pipe that cannot be opened, or a file
  /// that is not a named pipe).
  static Result<Interleave> open(const protocol::Interleave&);

  /// Waits until this process may compute. Once the partner needs the machine no more, it always
  /// may.
  void acquire();
  /// Lets the partner compute, as soon as the other threads of this process are idle; after 250 ms
  /// even if they are not.
  void hand_over();
  /// Tells a partner that agrees how often the batch of a sample was doubled.
  void state_doublings(int doublings);
  /// What the partner has stated; nothing until then.
  std::optional<int> partners_doublings() const { return partners_doublings_; }
  /// Call when everything is measured. Waits until the partner has measured everything too, as
  /// the end of a process would disturb it.
  void finish();
  /// How often this process got the machine while the partner still measured.
  int handovers() const { return handovers_; }
  /// How often it handed the machine over while another of its threads still ran.
  int handovers_not_idle() const { return handovers_not_idle_; }

 private:
  void receive();
  void send(char message);

  UniqueFd own_;
  UniqueFd other_;
  bool has_partner_ = false;  ///< that still measures
  bool may_compute_ = true;
  bool agrees_ = false;
  std::optional<int> partners_doublings_;
  int handovers_ = 0;
  int handovers_not_idle_ = 0;
};

/// Waits at most `limit` until no other thread of this process runs or is ready to run; returns
/// whether that happened. After a parallel loop OpenMP's threads keep waiting actively, libgomp's
/// for milliseconds, and would take the cores from the partner.
bool wait_for_idle_threads(std::chrono::milliseconds limit);

}  // namespace torchwatch::runner
