#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "torchwatch/config/config.hpp"

namespace torchwatch::cli {

/// What of the suite is measured, said on the command line in place of [suite].
struct SuiteOptions {
  std::vector<std::string> workloads;
  std::vector<std::string> configurations;
  std::vector<std::string> variants;
  std::string preset;

  void add_to(CLI::App& command);
  /// Errors: invalid, naming the word that is not known.
  Status apply(config::Config&) const;
};

}  // namespace torchwatch::cli
