#pragma once

#include <array>
#include <filesystem>

#include "torchwatch/protocol/request.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::executor {

/// The two named pipes through which two runs hand the turn to each other. Held open here for as
/// long as this object lives, so that neither run waits for the other to open its end. Thread-safe.
class TurnPipes {
 public:
  /// Makes the pipes that `turns` names; the folders exist. Errors: unavailable.
  static Result<TurnPipes> create(const std::array<protocol::Turns, 2>& turns);

  /// Tells the other run that run `index` has ended, however it did.
  void tell_ended(std::size_t index) const;

 private:
  std::array<UniqueFd, 2> own_;  ///< by the run that reads it
};

}  // namespace torchwatch::executor
