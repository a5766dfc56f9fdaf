#pragma once

#include <string>
#include <vector>

#include "torchwatch/config/config.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/http_client.hpp"

namespace torchwatch::identity {

/// One thing that GitHub says about us.
struct AccountFact {
  enum class Severity {
    good,
    unknown,  ///< GitHub could not be asked
    warning,  ///< works, but something is missing
    error     ///< no issue would be filed
  };
  Severity severity = Severity::good;
  std::string what;
  std::string found;
  std::string remedy{};  ///< what to do; empty where it is good
};

/// Asks GitHub who [github] makes us, what we may do in the repository, and how many requests are
/// left this hour. Changes nothing.
std::vector<AccountFact> check_account(const config::Config&, platform::HttpClient&,
                                       const platform::Clock&);

}  // namespace torchwatch::identity
