#include "torchwatch/checks/checks.hpp"
#include "torchwatch/identity/account_check.hpp"

namespace torchwatch::checks {
namespace {

Severity severity_of(identity::AccountFact::Severity severity) {
  using Fact = identity::AccountFact::Severity;
  switch (severity) {
    case Fact::good:
      return Severity::good;
    case Fact::unknown:
      return Severity::unknown;
    case Fact::warning:
      return Severity::warning;
    case Fact::error:
      break;
  }
  return Severity::error;
}

}  // namespace

std::vector<CheckResult> check_github(const config::Config& config, platform::HttpClient& client) {
  const platform::SystemClock clock;
  std::vector<CheckResult> results;
  for (auto& fact : identity::check_account(config, client, clock)) {
    results.push_back({.severity = severity_of(fact.severity),
                       .what = std::move(fact.what),
                       .found = std::move(fact.found),
                       .remedy = std::move(fact.remedy)});
  }
  return results;
}

}  // namespace torchwatch::checks
