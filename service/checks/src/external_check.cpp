#include "torchwatch/checks/checks.hpp"
#include "torchwatch/executor/external_command.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::checks {
CheckResult check_externals(const config::Config& config) {
  CheckResult result{
      .severity = Severity::good, .what = "[[suite.external]]", .found = "", .remedy = ""};
  for (const auto& external : config.suite.externals) {
    const executor::ExternalCommand command{
        .words = external.command,
        .readable = {external.readable.begin(), external.readable.end()}};
    const auto reason = executor::what_is_wrong(command);
    if (reason.empty()) continue;
    if (result.found.empty()) {
      result.remedy = "then run `torchwatch workload verify " + external.name + "`";
    }
    result.found += (result.found.empty() ? "" : "; ") + external.name + ": " + reason;
  }
  if (!result.found.empty()) {
    result.severity = Severity::error;
    return result;
  }
  const auto count = config.suite.externals.size();
  result.found = count == 0 ? "none" : figures::count(count, "command") + " can be started";
  return result;
}

}  // namespace torchwatch::checks
