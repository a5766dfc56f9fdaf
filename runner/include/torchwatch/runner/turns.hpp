#pragma once

#include "torchwatch/protocol/request.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::runner {

/// Two processes that measure by turns: one computes, the other waits, so that what disturbs the
/// machine for a while hits both alike (issue 5). Without a partner every call returns at once.
/// To be called by one thread; the process's others have to be at rest before a turn ends.
class Turns {
 public:
  /// Alone.
  Turns() = default;
  /// Errors: unavailable (a pipe that cannot be opened, or is none).
  static Result<Turns> open(const protocol::Turns&);

  /// Waits until it is this process's turn, which it is for good once the partner needs none.
  void take();
  /// Hands the turn over, once no other thread of this process runs: what is not over in 250 ms is
  /// waited for no longer.
  void pass();
  /// To be called when everything is measured. Waits until the partner has measured everything
  /// too, as what a process does at its end would disturb it.
  void finish();
  /// How many turns were taken while the partner needed some too.
  int taken() const { return taken_; }
  /// How many turns were handed over while another thread of this process still ran.
  int passed_restless() const { return passed_restless_; }

 private:
  void hear();
  void say(char message);

  UniqueFd own_;
  UniqueFd other_;
  bool has_partner_ = false;  ///< that still measures
  bool has_turn_ = true;
  int taken_ = 0;
  int passed_restless_ = 0;
};

}  // namespace torchwatch::runner
