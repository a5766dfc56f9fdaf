#include "torchwatch/machines/command.hpp"

#include <memory>
#include <ostream>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/nodes/node_report.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/machine.hpp"
#include "torchwatch/runs/run_reader.hpp"

namespace torchwatch::machines {
namespace {

using commands::Invocation;
using commands::Outcome;
using storage::MachineRow;

std::string class_of(const MachineRow& machine) {
  return machine.machine_class ? machine.machine_class->name : "unknown";
}

std::string fact_of(const MachineRow& machine, const std::string& name) {
  const auto found = machine.facts.find(name);
  return found == machine.facts.end() ? "" : found->second;
}

Outcome run_list(const Invocation& invocation, int limit) {
  TW_TRY(const auto database, commands::open_reader(invocation));
  TW_TRY(const auto machines, storage::RunReader(*database).machines());
  using terminal::Table;
  using Fit = Table::Fit;
  commands::Items items{Table({{"id", Table::Align::right},
                               {.heading = "class", .fit = Fit::wrap},
                               {.heading = "kernel", .rank = 2},
                               {.heading = "GPU driver", .rank = 2},
                               {"runs", Table::Align::right},
                               {.heading = "last run, UTC", .rank = 1, .fit = Fit::whole}})};
  for (const auto& machine : machines) {
    if (static_cast<int>(items.json.size()) == limit) break;
    items.table.add({std::to_string(machine.id), class_of(machine), fact_of(machine, "kernel"),
                     fact_of(machine, "gpu_driver"), std::to_string(machine.runs),
                     platform::date_and_minute(machine.last_run_at)});
    items.json.push_back(report::json_of(machine));
  }
  print(invocation, items, "No machine: nothing has been measured yet.");
  return commands::ExitStatus::done;
}

/// "+30.0 % [+28.1, +32.7]"
std::string level_text(const detect::NodeLevel& level) {
  if (!figures::is_known(level.low, level.high)) return "too few to tell";
  return figures::change(level.ratio) + " " + figures::interval(level.low, level.high);
}

std::string remark_on(const nodes::NodeReport& node) {
  if (node.time.differs) return node.is_noisier() ? "differs, noisier" : "differs";
  return node.is_noisier() ? "noisier" : "";
}

void print_nodes(const Invocation& invocation, const std::vector<nodes::NodeReport>& nodes) {
  if (nodes.empty()) return;
  using terminal::Table;
  Table table({{.heading = "node", .fit = Table::Fit::whole},
               {"items", Table::Align::right},
               {.heading = "time against the others", .fit = Table::Fit::whole},
               {.heading = "noise against the others", .rank = 1, .fit = Table::Fit::whole},
               {.heading = "", .fit = Table::Fit::whole}});
  for (const auto& node : nodes) {
    table.add({node.node, std::to_string(node.time.items), level_text(node.time),
               level_text(node.noise), remark_on(node)});
  }
  invocation.out << "\nnodes of its class, by what several of them measured of equal builds (an "
                    "item: a benchmark of a build)\n";
  table.print(invocation.out, invocation.screen);
}

Outcome run_show(const Invocation& invocation, storage::Id id) {
  TW_TRY(const auto database, commands::open_reader(invocation));
  TW_TRY(const auto machine, storage::RunReader(*database).machine(id));
  TW_TRY(const auto nodes, nodes::nodes_of_class(*database, machine.machine_class));
  if (invocation.json) {
    auto object = report::json_of(machine);
    object["schema"] = 1;
    object["nodes"] = nodes::json_of(nodes, true);
    commands::print_json(invocation, object);
    return commands::ExitStatus::done;
  }
  invocation.out << "machine " << machine.id << ", of the class " << class_of(machine) << "\n"
                 << machine.runs << " runs, the first "
                 << platform::date_and_minute(machine.first_run_at) << ", the last "
                 << platform::date_and_minute(machine.last_run_at) << " UTC\n\n"
                 << "facts that runs must share to be compared\n";
  for (const auto& [name, value] : machine.facts) {
    invocation.out << "  " << name << ": " << value << '\n';
  }
  print_nodes(invocation, nodes);
  return commands::ExitStatus::done;
}

}  // namespace

void add_machines(commands::Commands& all) {
  commands::Noun noun(all, "machine", "What runs were measured on: list, show");
  auto limit = std::make_shared<int>(commands::kItemsShown);
  auto& list =
      noun.add("list", "The machines with their classes, the newest first",
               [limit](const Invocation& invocation) { return run_list(invocation, *limit); });
  commands::add_limit(list, *limit);
  noun.add_with_id("show", "One machine: its class with its nodes, and every fact about it",
                   run_show);
}

}  // namespace torchwatch::machines
