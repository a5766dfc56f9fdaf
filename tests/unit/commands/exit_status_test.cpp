#include "torchwatch/commands/exit_status.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using commands::ExitStatus;

TEST_CASE("of two outcomes the worse one decides the exit status") {
  CHECK(worse(ExitStatus::done, ExitStatus::regression) == ExitStatus::regression);
  CHECK(worse(ExitStatus::regression, ExitStatus::environment) == ExitStatus::environment);
  CHECK(worse(ExitStatus::no_conclusion, ExitStatus::done) == ExitStatus::no_conclusion);
  CHECK(worse(ExitStatus::no_conclusion, ExitStatus::regression) == ExitStatus::regression);
}
