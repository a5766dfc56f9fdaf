#pragma once

#include <string>
#include <utility>

#include "torchwatch/checks/checks.hpp"

namespace torchwatch::checks {

inline CheckResult good(std::string what, std::string found) {
  return {
      .severity = Severity::good, .what = std::move(what), .found = std::move(found), .remedy = ""};
}

inline CheckResult bad(Severity severity, std::string what, std::string found, std::string remedy) {
  return {.severity = severity,
          .what = std::move(what),
          .found = std::move(found),
          .remedy = std::move(remedy)};
}

}  // namespace torchwatch::checks
