#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/comparison/selection.hpp"
#include "torchwatch/config/config.hpp"

namespace torchwatch::commands {

/// What is meant where an option is not given: what [suite] says, or everything.
enum class Otherwise { suite, all };

/// Returns the metrics that get verdicts, joined by commas.
std::string judged_metrics();

/// The options that say what of the suite is meant. They mean the same in every command that has
/// them.
class SelectionOptions {
 public:
  /// Adds --workload, --configuration, --variant, and --device and --mode, their shorthand.
  void add_to(CLI::App& command, Otherwise = Otherwise::suite);
  void add_metric_to(CLI::App& command);
  void add_preset_to(CLI::App& command);

  /// Errors: invalid, naming the word that is not known and what is allowed.
  Result<comparison::Selection> selection() const;
  /// Puts the selection in place of [suite]. Errors: as `selection`.
  Status apply(config::Config&) const;

 private:
  Result<std::vector<Configuration>> configurations() const;

  std::vector<std::string> workloads_;
  std::vector<std::string> configurations_;
  std::vector<std::string> variants_;
  std::vector<std::string> metrics_;
  std::string device_;
  std::string mode_;
  std::string preset_;
};

/// Errors: invalid, when a workload that is asked for is not in the suite, or this machine cannot
/// measure what is: checked before the machine's lock is waited for.
Status check_selection(const config::Config&, const comparison::Selection&);
/// The same, and that the selection measures something. Errors: invalid.
Status check_measured(const config::Config&, const comparison::Selection&);

/// Warns on standard error of a workload that the suite does not have, where nothing is measured.
void warn_of_unknown_workloads(const Invocation&, const config::Config&,
                               const comparison::Selection&);

}  // namespace torchwatch::commands
