#pragma once

#include <catch2/catch.hpp>

#include "trial_cluster.hpp"

namespace torchwatch::test {

/// The result of a run that took place; says what was wrong otherwise.
inline RunResult result_of(const Result<executor::RunOutcome>& outcome) {
  INFO((outcome ? "" : outcome.error().text()));
  REQUIRE(outcome);
  if (const auto* failure = std::get_if<executor::RunFailure>(&*outcome)) {
    FAIL(failure->reason + "\n" + failure->output);
  }
  return std::get<RunResult>(*outcome);
}

}  // namespace torchwatch::test
