#include "batches.hpp"

#include <ostream>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/selection_options.hpp"
#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::measuring {
namespace {

using commands::Commands;
using commands::ExitStatus;
using commands::Invocation;
using commands::Outcome;
using measurement::BatchChoice;

struct BatchOptions {
  std::string build;
  std::string out;
  int runs = 3;
  commands::SelectionOptions suite;
};

std::string tried_text(const BatchChoice& choice) {
  std::string text;
  for (const auto& [batch, items_per_second] : choice.tried) {
    text += (text.empty() ? "" : "; ") + std::to_string(batch) + ": " +
            figures::number(items_per_second);
  }
  return text;
}

void print(const Invocation& invocation, const std::vector<BatchChoice>& choices) {
  terminal::Table table({{"workload"},
                         {"configuration"},
                         {"batch", terminal::Table::Align::right},
                         {.heading = "items a second, by batch", .fit = terminal::Table::Fit::wrap},
                         {.heading = "why it stopped", .fit = terminal::Table::Fit::wrap}});
  for (const auto& choice : choices) {
    table.add({choice.benchmark.workload, to_string(choice.benchmark.configuration),
               choice.batch > 0 ? std::to_string(choice.batch) : "the preset's", tried_text(choice),
               choice.ended});
  }
  table.print(invocation.out, invocation.screen);
}

}  // namespace

nlohmann::json batches_json(const std::vector<BatchChoice>& choices) {
  auto array = nlohmann::json::array();
  for (const auto& choice : choices) {
    auto tried = nlohmann::json::array();
    for (const auto& point : choice.tried) {
      tried.push_back({{"batch", point.batch}, {"items_per_second", point.items_per_second}});
    }
    auto object = report::json_of(choice.benchmark);
    object.update({{"batch", choice.batch > 0 ? nlohmann::json(choice.batch) : nullptr},
                   {"tried", tried},
                   {"ended", choice.ended}});
    array.push_back(std::move(object));
  }
  return {{"schema", 1}, {"items", array}};
}

namespace {

Outcome run_batches(const Invocation& invocation, const BatchOptions& options) {
  TW_TRY(auto config, invocation.load_config_to_measure());
  TW_TRY_VOID(options.suite.apply(config));
  config.suite.inference_batches.clear();  // the table is made anew
  const auto preset = config.suite.preset;
  TW_TRY(auto opened, commands::open_for_measuring(invocation, std::move(config)));
  TW_TRY_VOID(
      comparison::check_workloads(opened.services(), opened.services().config.suite.workloads));
  TW_TRY_VOID(commands::wait_for_machine(opened, invocation.stop));
  TW_TRY(const auto build, commands::named_or_newest(invocation, opened, options.build));
  TW_TRY(const auto choices,
         measurement::choose_batches(opened.services(), build.id, options.runs, invocation.stop));
  if (!options.out.empty()) {
    TW_TRY_VOID(platform::publish_file(
        options.out, comparison::to_json(preset, measurement::table_of(choices))));
  }
  if (invocation.json) {
    commands::print_json(invocation, batches_json(choices));
  } else {
    print(invocation, choices);
  }
  return ExitStatus::done;
}

}  // namespace

void add_batches(Commands& all, CLI::App& workload) {
  auto options = std::make_shared<BatchOptions>();
  auto& command = all.add(
      workload, "batches",
      "Choose the batch sizes of inference: doubled until the throughput stops growing",
      [options](const Invocation& invocation) { return run_batches(invocation, *options); });
  command.add_option("--build", options->build, "Measure this BUILD; default: the newest known");
  command.add_option("--out", options->out,
                     "Write the table to this FILE, for [suite] inference_batches");
  command.add_option("--runs", options->runs, "Fresh processes for each batch size, 1 to 100")
      ->capture_default_str()
      ->check(commands::whole_number(1, 100));
  options->suite.add_to(command);
  options->suite.add_preset_to(command);
  command.footer("torchwatch workload batches --out batches.json --workload resnet18");
}

}  // namespace torchwatch::measuring
