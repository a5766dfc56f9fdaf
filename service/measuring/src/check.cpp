#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "noise_table.hpp"
#include "torchwatch/checks/checks.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/selection_options.hpp"
#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/measuring/checked.hpp"
#include "torchwatch/measuring/command.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::measuring {
namespace {

using commands::Commands;
using commands::ExitStatus;
using commands::Invocation;
using commands::Outcome;

const char* to_word(checks::Severity severity) {
  switch (severity) {
    case checks::Severity::good:
      return "good";
    case checks::Severity::unknown:
      return "unknown";
    case checks::Severity::warning:
      return "warning";
    case checks::Severity::error:
      return "error";
  }
  return "";
}

struct CheckOptions {
  bool noise = false;
  std::string build;
  int pairs = 12;
  commands::SelectionOptions suite;
};

/// "Fit to measure, 2 warnings, 3 not known."
std::string conclusion_of(const std::vector<checks::CheckResult>& found) {
  const auto count = [&](checks::Severity severity) {
    return static_cast<std::size_t>(
        std::ranges::count(found, severity, &checks::CheckResult::severity));
  };
  const auto errors = count(checks::Severity::error);
  const auto warnings = count(checks::Severity::warning);
  const auto unknown = count(checks::Severity::unknown);
  auto text = errors == 0 ? std::string("Fit to measure")
                          : "Not fit to measure: " + figures::count(errors, "error");
  if (warnings > 0) text += ", " + figures::count(warnings, "warning");
  if (unknown > 0) text += ", " + std::to_string(unknown) + " not known";
  return text + ".";
}

}  // namespace

Checked check(const config::Config& config) {
  const auto found = checks::check_all(config);
  Checked checked{.conclusion = conclusion_of(found)};
  for (const auto& finding : found) {
    if (finding.severity == checks::Severity::error) checked.status = ExitStatus::environment;
    checked.table.add({to_word(finding.severity), finding.what, finding.found, finding.remedy});
    checked.json.push_back({{"severity", to_word(finding.severity)},
                            {"what", finding.what},
                            {"found", finding.found},
                            {"remedy", report::text_or_null(finding.remedy)}});
  }
  return checked;
}

namespace {

Result<std::vector<measurement::NoiseFigure>> noise_of(const Invocation& invocation,
                                                       const CheckOptions& options,
                                                       config::Config config) {
  TW_TRY_VOID(options.suite.apply(config));
  TW_TRY(auto opened, commands::open_for_measuring(invocation, std::move(config)));
  TW_TRY_VOID(
      comparison::check_workloads(opened.services(), opened.services().config.suite.workloads));
  TW_TRY_VOID(commands::wait_for_machine(opened, invocation.stop));
  TW_TRY(const auto build, commands::named_or_newest(invocation, opened, options.build));
  return measurement::measure_noise(opened.services(), build.id, options.pairs, invocation.stop);
}

Outcome run_check(const Invocation& invocation, const CheckOptions& options) {
  TW_TRY(const auto config, config::load(invocation.config_file, invocation.config_given));
  auto checked = check(config);
  nlohmann::json json{{"schema", 1}, {"items", checked.json}};
  if (!invocation.json) {
    checked.table.print(invocation.out, invocation.screen);
    invocation.out << '\n' << checked.conclusion << '\n';
  }
  if (options.noise) {
    TW_TRY(const auto noise, noise_of(invocation, options, config));
    json["noise"] = noise_json(noise);
    if (!invocation.json) print_noise(invocation.out << '\n', noise, invocation.screen);
  }
  if (invocation.json) commands::print_json(invocation, json);
  return checked.status;
}

}  // namespace

void add_check(Commands& all) {
  auto options = std::make_shared<CheckOptions>();
  auto& command = all.add(
      "check", "Test this machine, this configuration and its tokens; each problem has its remedy",
      [options](const Invocation& invocation) { return run_check(invocation, *options); });
  auto* noise = command.add_flag(
      "--noise", options->noise,
      "Also measure a build against itself and report the minimum detectable effect");
  command
      .add_option("--build", options->build, "This BUILD with --noise; default: the newest known")
      ->needs(noise);
  command
      .add_option("--pairs", options->pairs,
                  "Pairs of runs for each workload with --noise, 4 to 200")
      ->capture_default_str()
      ->check(commands::whole_number(4, 200))
      ->needs(noise);
  command.footer("torchwatch check --noise --workload resnet18");
  options->suite.add_to(command);
  options->suite.add_preset_to(command);
  for (const char* of_noise :
       {"--workload", "--configuration", "--variant", "--device", "--mode", "--preset"}) {
    command.get_option(of_noise)->needs(noise);
  }
}

}  // namespace torchwatch::measuring
