#include <map>
#include <ostream>

#include "batches.hpp"
#include "coverage.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/inquiry/listed_workloads.hpp"
#include "torchwatch/kits/suite.hpp"
#include "torchwatch/measuring/command.hpp"
#include "torchwatch/terminal/table.hpp"
#include "torchwatch/verification/command.hpp"

namespace torchwatch::measuring {
namespace {

using commands::Commands;
using commands::ExitStatus;
using commands::Invocation;
using commands::Outcome;
using nlohmann::json;

/// "204,475,711"; empty for what is not counted, and for the batch of a mode that is refused.
std::string number(const json& value) {
  const bool is_shown = value.is_number_integer() && value != 0;
  return is_shown ? figures::grouped(value.get<std::int64_t>()) : "";
}

commands::Items items_of(json suite) {
  using Align = terminal::Table::Align;
  commands::Items items{
      terminal::Table({{"workload"},
                       {"domain", Align::left, 2},
                       {"task", Align::left, 4},
                       {"parameters", Align::right, 3},
                       {"paper train batch", Align::right, 1},
                       {"paper infer batch", Align::right, 1},
                       {.heading = "configurations", .fit = terminal::Table::Fit::wrap}})};
  for (const auto& workload : suite) {
    std::string configurations;
    for (const auto& each : workload.at("configurations")) {
      if (!each.at("supported").get<bool>()) continue;
      configurations +=
          (configurations.empty() ? "" : " ") + each.at("configuration").get<std::string>();
    }
    const auto text = [&](const char* name) { return workload.at(name).get<std::string>(); };
    items.table.add({text("name"), text("domain"), text("task"),
                     number(workload.at("params_trainable")), number(workload.at("train_batch")),
                     number(workload.at("eval_batch")), configurations});
  }
  items.json = std::move(suite);
  return items;
}

/// Why configurations are missing, each reason once with those it holds for.
void print_reasons(const json& suite, std::ostream& out) {
  std::map<std::string, std::string> benchmarks;
  for (const auto& workload : suite) {
    for (const auto& each : workload.at("configurations")) {
      if (each.at("reason").is_null()) continue;
      auto& named = benchmarks[each.at("reason").get<std::string>()];
      named += (named.empty() ? "" : ", ") + workload.at("name").get<std::string>() + " " +
               each.at("configuration").get<std::string>();
    }
  }
  for (const auto& [reason, named] : benchmarks) {
    out << "\nnot supported, " << reason << ":\n";
    out << "  " << named << '\n';
  }
}

struct WorkloadOptions {
  std::string build;
  bool count = false;
  bool coverage = false;
};

Outcome show_coverage(const Invocation& invocation, daemon::Application& application,
                      const storage::BuildRow& build) {
  TW_TRY(const auto listed, inquiry::registered_workloads(application, build, invocation.stop));
  TW_TRY(const auto covered, cover(application.services(), build, listed, invocation.stop));
  if (invocation.json) {
    commands::print_json(invocation, terminal::coverage_json(covered));
  } else {
    terminal::print_coverage(invocation.out, covered, invocation.screen);
  }
  return ExitStatus::done;
}

/// Asks the runner of a build, which may have to be compiled, and counts every network.
Outcome count_or_cover(const Invocation& invocation, config::Config config,
                       const WorkloadOptions& options) {
  TW_TRY(auto opened, commands::open_for_measuring(invocation, std::move(config)));
  TW_TRY_VOID(commands::wait_for_machine(opened, invocation.stop));
  TW_TRY(const auto build, commands::named_or_newest(invocation, opened, options.build));
  if (options.coverage) return show_coverage(invocation, *opened.application, build);
  TW_TRY(const auto counted,
         inquiry::counted_workloads(*opened.application, build, invocation.stop));
  TW_TRY(auto suite, kits::read_suite(daemon::source_folder(opened.services().config)));
  kits::add_counted(suite, counted);
  comparison::add_externals(suite, opened.services().config);
  print(invocation, items_of(std::move(suite)), "No workload.");
  return ExitStatus::done;
}

Outcome run_list(const Invocation& invocation, const WorkloadOptions& options) {
  TW_TRY(auto config, invocation.load_config());
  if (!options.build.empty() && !options.count && !options.coverage) {
    return fail(
        ErrorCode::invalid,
        "--build needs --count or --coverage: without them the list comes from the sources");
  }
  if (options.coverage || options.count) {
    return count_or_cover(invocation, std::move(config), options);
  }
  TW_TRY(auto suite, kits::read_suite(daemon::source_folder(config)));
  const auto counted = kits::counted_by_kits(config.build.cache / "kits");
  kits::add_counted(suite, counted);
  const auto reasons = suite;
  comparison::add_externals(suite, config);
  print(invocation, items_of(std::move(suite)), "No workload.");
  if (invocation.json) return ExitStatus::done;
  print_reasons(reasons, invocation.out);
  if (counted.is_null()) {
    invocation.out
        << "\nParameters are not known: no kit has counted them yet. `torchwatch workload "
           "list\n--count` does, which takes minutes.\n";
  }
  return ExitStatus::done;
}

}  // namespace

void add_workloads(Commands& all) {
  auto& workload = all.add("workload", "The suite: list, batches, verify", nullptr);
  workload.require_subcommand(1);
  workload.footer("torchwatch workload list");
  auto options = std::make_shared<WorkloadOptions>();
  auto& command = all.add(
      workload, "list",
      "Each workload with domain, task, batch sizes, configurations and, once counted, parameters",
      [options](const Invocation& invocation) { return run_list(invocation, *options); });
  command.add_option("--build", options->build,
                     "With --count or --coverage: the runner of this BUILD; default: the newest "
                     "known");
  command.add_flag("--count", options->count,
                   "Build every network once and count what it has; compiles a runner if there is "
                   "none");
  command.add_flag("--coverage", options->coverage,
                   "Run one iteration of each and report which operators the suite reaches");
  command.footer("torchwatch workload list --coverage");
  add_batches(all, workload);
  verification::add_verify(all, workload);
}

}  // namespace torchwatch::measuring
