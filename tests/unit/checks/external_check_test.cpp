#include <catch2/catch.hpp>

#include "torchwatch/checks/checks.hpp"

using namespace torchwatch;
using namespace torchwatch::checks;
using Catch::Contains;

namespace {

config::Config with_command(const std::string& program) {
  config::Config config;
  config.suite.externals = {{.name = "mine",
                             .command = {program},
                             .metrics = {Metric::time},
                             .device = Device::cpu,
                             .modes = {Mode::train},
                             .readable = {}}};
  return config;
}

}  // namespace

TEST_CASE("an external workload that cannot be started is an error with its name and the reason") {
  CHECK(check_externals({}).severity == Severity::good);
  CHECK(check_externals(with_command("/usr/bin/env")).severity == Severity::good);
  const auto found = check_externals(with_command("/nowhere/program"));
  CHECK(found.severity == Severity::error);
  CHECK_THAT(found.found, Contains("mine: command /nowhere/program does not exist"));
  CHECK_THAT(found.remedy, Contains("workload verify mine"));
}

TEST_CASE("an argument of an external workload that is a path to nothing is named") {
  auto config = with_command("/usr/bin/env");
  config.suite.externals[0].command = {"/usr/bin/env", "python3", "/nowhere/workload.py"};
  const auto found = check_externals(config);
  CHECK(found.severity == Severity::error);
  CHECK_THAT(found.found, Contains("mine: argument /nowhere/workload.py does not exist"));
}

TEST_CASE("what an external workload may read and is not there is named") {
  auto config = with_command("/usr/bin/env");
  config.suite.externals[0].readable = {"/usr/bin", "/nowhere/helper.py"};
  const auto found = check_externals(config);
  CHECK(found.severity == Severity::error);
  CHECK_THAT(found.found, Contains("mine: `readable` names /nowhere/helper.py"));
}
