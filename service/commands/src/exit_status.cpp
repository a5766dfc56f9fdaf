#include "torchwatch/commands/exit_status.hpp"

#include <algorithm>
#include <array>

namespace torchwatch::commands {

ExitStatus exit_status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
    case ErrorCode::not_found:
      return ExitStatus::wrong_use;
    case ErrorCode::cancelled:
      return ExitStatus::interrupted;
    case ErrorCode::conflict:
    case ErrorCode::unavailable:
    case ErrorCode::timed_out:
    case ErrorCode::failed:
    case ErrorCode::corrupt:
    case ErrorCode::damaged:
    case ErrorCode::internal:
      return ExitStatus::environment;
  }
  return ExitStatus::environment;
}

ExitStatus worse(ExitStatus a, ExitStatus b) {
  constexpr std::array kRank{ExitStatus::interrupted,   ExitStatus::wrong_use,
                             ExitStatus::environment,   ExitStatus::regression,
                             ExitStatus::no_conclusion, ExitStatus::done};
  return std::min(a, b, [&](ExitStatus left, ExitStatus right) {
    return std::ranges::find(kRank, left) < std::ranges::find(kRank, right);
  });
}

ExitStatus exit_status_of(const bisection::BisectionResult& result) {
  using bisection::BisectionOutcome;
  if (result.outcome == BisectionOutcome::faulted) return ExitStatus::environment;
  if (!result.single_commits().empty()) return ExitStatus::regression;
  return result.outcome == BisectionOutcome::did_not_reproduce ? ExitStatus::done
                                                               : ExitStatus::no_conclusion;
}

}  // namespace torchwatch::commands
