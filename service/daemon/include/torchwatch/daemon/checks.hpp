#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/config/config.hpp"

namespace torchwatch::daemon {

enum class Severity {
  good,
  warning,  ///< works, but measures worse than it could
  error,    ///< a comparison would not reach its end
};

struct CheckResult {
  Severity severity = Severity::good;
  std::string what;
  std::string found;
  std::string remedy;  ///< what to do; empty where it is good
};

/// Checks this machine and everything that the configuration names; measures and changes nothing.
std::vector<CheckResult> check_all(const config::Config&);

/// Checks what makes times noisy on a machine, as its kernel shows it under `root` ("/" but in
/// tests). What is not shown there is good: a guest cannot change its host's clocks.
std::vector<CheckResult> check_machine(const std::filesystem::path& root);

}  // namespace torchwatch::daemon
