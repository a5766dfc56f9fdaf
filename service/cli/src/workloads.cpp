#include <algorithm>
#include <array>
#include <map>
#include <ostream>

#include "torchwatch/commands/application_command.hpp"
#include "batches.hpp"
#include "coverage.hpp"
#include "listed_workloads.hpp"
#include "named_or_newest.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::cli {
namespace {

using nlohmann::json;

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

const std::array kConfigurations{"cpu-train", "cpu-infer", "cuda-train", "cuda-infer"};

json configuration_of(const json& workload, std::string_view name) {
  for (const auto& entry : workload.value("configurations", json::array())) {
    if (text_of(entry, "configuration") == name) return entry;
  }
  return json::object();
}

void print_table(const json& workloads, std::ostream& out) {
  using Align = terminal::Table::Align;
  terminal::Table table({{"workload"},
                         {"domain"},
                         {"task"},
                         {"parameters", Align::right},
                         {"train batch", Align::right},
                         {"eval batch", Align::right},
                         {"cpu-train"},
                         {"cpu-infer"},
                         {"cuda-train"},
                         {"cuda-infer"}});
  for (const auto& item : workloads) {
    std::vector<terminal::Table::Cell> row;
    for (const auto* name :
         {"name", "domain", "task", "params_trainable", "train_batch", "eval_batch"}) {
      row.push_back(text_of(item, name));
    }
    for (const auto* name : kConfigurations) {
      row.emplace_back(configuration_of(item, name).value("supported", false) ? "yes" : "-");
    }
    table.add(row);
  }
  table.print(out);
}

/// Why configurations are missing, each reason once with those it holds for.
void print_reasons(const json& workloads, std::ostream& out) {
  std::map<std::string, std::vector<std::string>> benchmarks;
  for (const auto& item : workloads) {
    for (const auto* name : kConfigurations) {
      const auto reason = text_of(configuration_of(item, name), "reason");
      if (!reason.empty()) benchmarks[reason].push_back(text_of(item, "name") + " " + name);
    }
  }
  constexpr std::size_t kNamed = 8;
  for (const auto& [reason, of] : benchmarks) {
    out << "\nnot supported: " << reason << "\n  ";
    for (std::size_t i = 0; i < std::min(of.size(), kNamed); ++i)
      out << (i > 0 ? ", " : "") << of[i];
    if (of.size() > kNamed) out << " and " << of.size() - kNamed << " more";
    out << "\n";
  }
}

struct Options {
  std::string build;
  bool coverage = false;
};

Outcome show_coverage(const Invocation& invocation, daemon::Application& application,
                      const storage::BuildRow& build) {
  TW_TRY_VOID(application.lock_machine());
  TW_TRY(const auto listed, registered_workloads(application, build, invocation.stop));
  TW_TRY(const auto covered, cover(application.services(), build, listed, invocation.stop));
  if (invocation.json) {
    invocation.out << coverage_json(covered).dump(2) << '\n';
  } else {
    print_coverage(invocation.out, covered);
  }
  return ExitStatus::done;
}

Outcome run_workloads(const Invocation& invocation, const Options& options) {
  TW_TRY(auto opened,
         options.coverage ? commands::open_application(invocation) : commands::open_for_reading(invocation));
  TW_TRY(const auto build, named_or_newest(*opened.application, options.build, invocation.stop));
  if (options.coverage) return show_coverage(invocation, *opened.application, build);
  TW_TRY(const auto listed, counted_workloads(*opened.application, build, invocation.stop));
  if (invocation.json) {
    invocation.out << listed.dump(2) << '\n';
    return ExitStatus::done;
  }
  const auto workloads = listed.value("workloads", json::array());
  print_table(workloads, invocation.out);
  print_reasons(workloads, invocation.out);
  return ExitStatus::done;
}

}  // namespace

void add_workloads(Commands& all) {
  auto& workload = all.add("workload", "The suite: list, batches", nullptr);
  workload.require_subcommand(1);
  workload.footer("torchwatch workload list");
  auto options = std::make_shared<Options>();
  auto& command = all.add(
      workload, "list", "Each workload with its parameters and batch sizes",
      [options](const Invocation& invocation) { return run_workloads(invocation, *options); });
  command.add_option("--build", options->build,
                     "Ask the runner of this BUILD; default: the newest known");
  command.add_flag("--coverage", options->coverage,
                   "Run one iteration of each and tell which operators the suite reaches");
  command.footer("torchwatch workload list --coverage");
  add_batches(all, workload);
}

}  // namespace torchwatch::cli
