#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>

#include "torchwatch/protocol/request.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::conformance {

/// What was seen of a process's turns.
struct Turns {
  int samples = 0;  ///< how often it gave the machine back after it had got it
  /// The shortest of the times for which it had the machine for a sample; none without a sample.
  std::chrono::nanoseconds shortest{0};
  std::string problem;  ///< the first breach of the contract; empty where there was none
};

/// The first process of an interleaved pair, played: it has the machine at the beginning, hands it
/// over a few times, and watches that nothing is said out of turn.
class Partner {
 public:
  /// Makes two named pipes in the folder. Errors: unavailable.
  static Result<Partner> open(const std::filesystem::path& folder);

  /// The pipes as the process that is watched gets them; it does not begin.
  protocol::Interleave pipes() const;
  /// Plays until the process has measured everything, breaks the contract, or `stop` says that it
  /// has ended.
  Turns play(const std::stop_token& stop) const;

 private:
  /// Returns the next message, or 0 where none comes within the time or before `stop`.
  char receive(std::chrono::milliseconds within, const std::stop_token& stop) const;
  void send(char message) const;

  std::filesystem::path to_;    ///< what the process reads
  std::filesystem::path from_;  ///< what it writes
  UniqueFd to_pipe_;
  UniqueFd from_pipe_;
};

}  // namespace torchwatch::conformance
