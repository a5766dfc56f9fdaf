#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "coverage.hpp"
#include "efficiency.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/page_text.hpp"
#include "torchwatch/commands/selection_options.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/measurement/measurement.hpp"
#include "torchwatch/measuring/command.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/requests/check.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::measuring {
namespace {

using commands::Commands;
using commands::ExitStatus;
using commands::Invocation;
using commands::Outcome;

struct MeasureOptions {
  std::string build;
  int runs = 5;
  bool efficiency = false;
  bool coverage = false;
  bool profile = false;

  /// The passes that are asked for instead of the timed ones.
  std::vector<Pass> observing() const {
    std::vector<Pass> passes;
    if (coverage) passes.push_back(Pass::coverage);
    if (profile) passes.push_back(Pass::profile);
    return passes;
  }
  commands::SelectionOptions suite;
};

nlohmann::json to_json(const measurement::MeasuredFigure& figure) {
  auto object = report::json_of(figure.series);
  object.update({{"value", figure.value},
                 {"spread", figure.spread},
                 {"runs", figure.runs},
                 {"status", to_string(figure.status)},
                 {"reason", report::text_or_null(figure.reason)}});
  return object;
}

nlohmann::json to_json(const storage::BuildRow& build,
                       const std::vector<measurement::MeasuredFigure>& figures) {
  auto array = nlohmann::json::array();
  for (const auto& figure : figures) array.push_back(to_json(figure));
  return {{"schema", 1}, {"build", build.name}, {"figures", array}};
}

void print(const Invocation& invocation, const std::vector<measurement::MeasuredFigure>& figures) {
  using Align = terminal::Table::Align;
  terminal::Table table({{"workload"},
                         {"configuration"},
                         {"metric"},
                         {"value", Align::right},
                         {"spread", Align::right, 1},
                         {"runs", Align::right, 2},
                         {.heading = "status", .fit = terminal::Table::Fit::wrap}});
  for (const auto& figure : figures) {
    const bool ok = figure.status == RunStatus::ok;
    const bool scatters = figure.runs > 1 || figure.series.metric == Metric::time;
    table.add({figure.series.benchmark.workload,
               report::configuration_text(figure.series.benchmark),
               std::string(to_string(figure.series.metric)),
               ok ? figures::value(figure.series.metric, figure.value) : "-",
               ok && scatters ? figures::spread(figure.spread) : "-", std::to_string(figure.runs),
               ok ? "ok" : std::string(to_string(figure.status)) + ": " + figure.reason});
  }
  commands::print_table(invocation, table);
}

/// In a wrong folder, where there is no configuration, a build that does not exist is found before
/// a database is made for nothing. Errors: those of requests::check.
Status check_build(const config::Config& config, const std::string& name) {
  if (!config.file.empty()) return {};
  const auto reader = daemon::open_reader(config);
  return requests::check({.config = config, .database = reader ? reader->get() : nullptr},
                         storage::RequestKind::nightly, {{"candidate", name}},
                         requests::Asking::from_this_machine);
}

/// Errors: invalid, for what one build alone has not.
Status check_metrics(const comparison::Selection& selection) {
  if (std::ranges::find(selection.metrics, Metric::output_difference) == selection.metrics.end()) {
    return {};
  }
  return fail(ErrorCode::invalid,
              "one build has no output_difference, it is between two: torchwatch compare BASELINE "
              "CANDIDATE --metric output_difference");
}

/// What of a build is seen without timing it, which a daemon stores where one listens.
Outcome run_observing(const Invocation& invocation, const config::Config& config,
                      const MeasureOptions& options, const comparison::Selection& selection) {
  auto body = comparison::to_json(selection);
  body.erase("metrics");
  body["candidate"] = commands::build_for_daemon(options.build);
  for (const auto pass : options.observing()) body["passes"].push_back(to_string(pass));
  return commands::carry_out(
      invocation, config,
      {.path = "/api/v1/measurements",
       .body = body,
       .without_daemon = [&](auto& opened) -> Outcome {
         TW_TRY_VOID(commands::wait_for_machine(opened, invocation.stop));
         TW_TRY(const auto build, commands::named_or_newest(invocation, opened, options.build));
         TW_TRY_VOID(print_observed(invocation, opened.services(), build, options.observing()));
         return ExitStatus::done;
       }});
}

Outcome run_measure(const Invocation& invocation, const MeasureOptions& options) {
  TW_TRY(auto config, invocation.load_config_to_measure());
  TW_TRY(const auto selection, options.suite.selection());
  TW_TRY_VOID(check_metrics(selection));
  TW_TRY_VOID(options.suite.apply(config));
  TW_TRY_VOID(commands::check_selection(config, selection));
  TW_TRY_VOID(check_build(config, options.build));
  if (!options.observing().empty()) return run_observing(invocation, config, options, selection);
  TW_TRY(auto opened, commands::open_for_measuring(invocation, std::move(config)));
  TW_TRY_VOID(commands::wait_for_machine(opened, invocation.stop));
  TW_TRY(const auto build, commands::named_or_newest(invocation, opened, options.build));
  TW_TRY(auto figures,
         measurement::measure_build(opened.services(), build.id, options.runs, invocation.stop));
  std::erase_if(figures, [&](const auto& figure) {
    return !comparison::is_selected(selection, shown_with(figure.series.metric));
  });
  if (figures.empty()) {
    return fail(ErrorCode::invalid, "nothing of the suite is what the options name together",
                "leave one out; `torchwatch workload list` has what each workload can");
  }
  auto json = to_json(build, figures);
  if (!invocation.json) print(invocation, figures);
  if (options.efficiency) {
    TW_TRY(const auto efficiency,
           efficiency_of(opened.services(), build, figures, invocation.stop));
    json["efficiency"] = efficiency_json(efficiency);
    if (!invocation.json) {
      invocation.out << '\n';
      print_efficiency(invocation, efficiency);
    }
  }
  if (invocation.json) commands::print_json(invocation, json);
  return ExitStatus::done;
}

}  // namespace

void add_measure(Commands& all) {
  auto options = std::make_shared<MeasureOptions>();
  auto& command = all.add(
      "measure", "Measure one build: times and peaks of each workload, with their spread",
      [options](const Invocation& invocation) { return run_measure(invocation, *options); });
  command
      .add_option("BUILD", options->build,
                  "A folder, a name in the channel, a release of PyTorch, or a commit")
      ->required();
  command
      .add_option(
          "--runs", options->runs,
          "Fresh processes for each figure, 1 to 100; with one, the spread of a time is that of "
          "its iterations")
      ->capture_default_str()
      ->check(commands::whole_number(1, 100));
  command.add_flag("--efficiency", options->efficiency,
                   "Also count the operations of an iteration and report the share of the "
                   "machine's peak that is reached");
  auto* coverage =
      command.add_flag("--coverage", options->coverage,
                       "Time nothing: run one iteration of each and store the operators it calls");
  auto* profile = command.add_flag(
      "--profile", options->profile,
      "Time nothing: keep a trace of an iteration, and the shares of a GPU's time");
  command.get_option("--efficiency")->excludes(coverage)->excludes(profile);
  all.add_format(command);
  options->suite.add_to(command);
  options->suite.add_metric_to(command);
  options->suite.add_preset_to(command);
  command.footer("torchwatch measure 2.13.0 --workload resnet18 --efficiency");
}

}  // namespace torchwatch::measuring
