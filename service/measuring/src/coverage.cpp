#include "coverage.hpp"

#include <algorithm>
#include <ostream>
#include <set>

#include "torchwatch/commands/page_text.hpp"
#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::measuring {
namespace {

using measurement::Observed;
using nlohmann::json;
using terminal::WorkloadCoverage;

/// "344 operators", "active 61 %, copy 9 %, idle 30 %", or why there is nothing.
std::string seen_text(const Observed& one, Pass pass) {
  if (one.status != RunStatus::ok) return std::string(to_string(one.status)) + ": " + one.reason;
  if (pass == Pass::coverage) return figures::count(one.operators.size(), "operator");
  if (!one.breakdown) return "nothing of a GPU: " + one.reason;
  const auto& [active, copy, idle] = *one.breakdown;
  const auto all = std::max<double>(1, static_cast<double>(active + copy + idle));
  return "active " + figures::share(static_cast<double>(active) / all) + ", copy " +
         figures::share(static_cast<double>(copy) / all) + ", idle " +
         figures::share(static_cast<double>(idle) / all);
}

json observed_json(const Observed& one, Pass pass) {
  auto object = report::json_of(one.benchmark);
  object.update({{"pass", to_string(pass)},
                 {"run", one.run},
                 {"status", to_string(one.status)},
                 {"reason", report::text_or_null(one.reason)},
                 {"operators", one.operators.size()},
                 {"active_ns", nullptr},
                 {"copy_ns", nullptr},
                 {"idle_ns", nullptr}});
  if (!one.breakdown) return object;
  object.update({{"active_ns", one.breakdown->active_ns},
                 {"copy_ns", one.breakdown->copy_ns},
                 {"idle_ns", one.breakdown->idle_ns}});
  return object;
}

}  // namespace

Result<std::vector<WorkloadCoverage>> cover(comparison::Services& services,
                                            const storage::BuildRow& build, const json& listed,
                                            std::stop_token stop) {
  std::vector<WorkloadCoverage> all;
  auto plan = comparison::make_plan(services.config, {}, {});
  plan.preset = Preset::small;
  for (const auto& item : listed.at("workloads")) {
    const auto& of =
        all.emplace_back(WorkloadCoverage{.workload = item.at("name").get<std::string>(),
                                          .domain = item.value("domain", ""),
                                          .operators = {},
                                          .reasons = {}});
    for (const auto mode : {Mode::train, Mode::infer}) {
      plan.benchmarks.push_back({of.workload, {Device::cpu, mode}, {}});
    }
  }
  services.progress.phase_started("watching one iteration of each workload");
  TW_TRY(const auto observed,
         measurement::observe_build(services, build.id, plan, Pass::coverage, stop));
  for (const auto& one : observed) {
    auto& of = *std::ranges::find(all, one.benchmark.workload, &WorkloadCoverage::workload);
    for (const auto& [name, calls] : one.operators) of.operators.insert(name);
    if (one.status != RunStatus::ok) of.reasons.push_back(one.reason);
  }
  return all;
}

Status print_observed(const commands::Invocation& invocation, comparison::Services& services,
                      const storage::BuildRow& build, const std::vector<Pass>& passes) {
  TW_TRY(const auto plan, comparison::plan_of_config(services));
  terminal::Table table({{"workload"},
                         {"configuration"},
                         {"pass"},
                         {.heading = "seen", .fit = terminal::Table::Fit::wrap}});
  auto listed = json::array();
  std::set<std::string> operators;
  for (const auto pass : passes) {
    TW_TRY(const auto observed,
           measurement::observe_build(services, build.id, plan, pass, invocation.stop));
    for (const auto& one : observed) {
      table.add({one.benchmark.workload, report::configuration_text(one.benchmark),
                 std::string(to_string(pass)), seen_text(one, pass)});
      listed.push_back(observed_json(one, pass));
      for (const auto& [name, calls] : one.operators) operators.insert(name);
    }
  }
  if (invocation.json) {
    const json all{
        {"schema", 1}, {"build", build.name}, {"figures", json::array()}, {"observed", listed}};
    commands::print_json(invocation, all);
    return {};
  }
  commands::print_table(invocation, table);
  if (!operators.empty()) {
    invocation.out << "All together call " << figures::count(operators.size(), "operator") << ".\n";
  }
  return {};
}

}  // namespace torchwatch::measuring
