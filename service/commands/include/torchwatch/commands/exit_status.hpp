#pragma once

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/records/error.hpp"

namespace torchwatch::commands {

/// What `torchwatch` ends with. Of several outcomes 3 comes before 1 before 4 before 0.
enum class ExitStatus {
  done = 0,           ///< done, and nothing regressed; or taken on by a daemon
  regression = 1,     ///< a regression was found, or a culprit named
  wrong_use = 2,      ///< wrong use or bad input
  environment = 3,    ///< network, disk, a build, another torchwatch
  no_conclusion = 4,  ///< could not tell
  interrupted = 130,
};

ExitStatus exit_status_of(ErrorCode);
/// Returns 1 if a culprit is named, 3 if the recipe kept failing, 4 without a conclusion, 0 if the
/// change did not reproduce.
ExitStatus exit_status_of(const bisection::BisectionResult&);
/// Returns the outcome of the two that decides the exit status.
ExitStatus worse(ExitStatus, ExitStatus);

}  // namespace torchwatch::commands
