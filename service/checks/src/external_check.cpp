#include <algorithm>
#include <filesystem>

#include "torchwatch/checks/checks.hpp"
#include "torchwatch/executor/external_command.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::checks {
namespace {

/// The first argument that is a path to nothing: the sandbox of a run cannot show it.
std::string missing_argument(const std::vector<std::string>& words) {
  const auto is_missing = [&](const std::string& word) {
    std::error_code ignored;
    return word.starts_with('/') && !std::filesystem::exists(word, ignored);
  };
  const auto missing = std::ranges::find_if(words, is_missing);
  return missing == words.end() ? "" : "argument " + *missing + " does not exist: correct its path";
}

}  // namespace

CheckResult check_externals(const config::Config& config) {
  CheckResult result{
      .severity = Severity::good, .what = "[[suite.external]]", .found = "", .remedy = ""};
  for (const auto& external : config.suite.externals) {
    const executor::ExternalCommand command{.words = external.command, .readable = {}};
    auto reason = executor::why_not_startable(command);
    if (reason.empty()) reason = missing_argument(external.command);
    if (reason.empty()) continue;
    result.found += (result.found.empty() ? "" : "; ") + external.name + ": " + reason;
  }
  if (!result.found.empty()) {
    result.severity = Severity::error;
    result.remedy = "then run `torchwatch workload verify NAME`";
    return result;
  }
  const auto count = config.suite.externals.size();
  result.found = count == 0 ? "none" : figures::count(count, "command") + " can be started";
  return result;
}

}  // namespace torchwatch::checks
