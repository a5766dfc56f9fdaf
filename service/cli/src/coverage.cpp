#include "coverage.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>

#include "runner_call.hpp"
#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::cli {
namespace {

using nlohmann::json;

/// The paper compares with MLPerf's ResNet-50, Mask R-CNN, BERT, DLRM and a recurrent translator;
/// for the last, which the suite lacks, stands its recurrent encoder and decoder with attention.
const std::array kMlperfNetworks{"resnet50", "vision_maskrcnn", "hf_Bert", "dlrm", "tacotron2"};

std::set<std::string> united(const std::vector<const WorkloadCoverage*>& of) {
  std::set<std::string> all;
  for (const auto* each : of) all.insert(each->operators.begin(), each->operators.end());
  return all;
}

std::vector<const WorkloadCoverage*> pointers(const std::vector<WorkloadCoverage>& all) {
  std::vector<const WorkloadCoverage*> result;
  for (const auto& each : all) result.push_back(&each);
  return result;
}

std::vector<const WorkloadCoverage*> mlperf_networks(const std::vector<WorkloadCoverage>& all) {
  std::vector<const WorkloadCoverage*> result;
  for (const auto& each : all) {
    const auto is_this = [&](const char* name) { return each.workload == name; };
    if (std::ranges::any_of(kMlperfNetworks, is_this)) result.push_back(&each);
  }
  return result;
}

std::map<std::string, std::vector<const WorkloadCoverage*>> by_domain(
    const std::vector<WorkloadCoverage>& all) {
  std::map<std::string, std::vector<const WorkloadCoverage*>> domains;
  for (const auto& each : all) domains[each.domain].push_back(&each);
  return domains;
}

/// Operators that one workload alone reaches: workload to operators.
std::map<std::string, std::vector<std::string>> reached_once(
    const std::vector<WorkloadCoverage>& all) {
  std::map<std::string, std::vector<std::string>> workloads_of;
  for (const auto& each : all) {
    for (const auto& name : each.operators) workloads_of[name].push_back(each.workload);
  }
  std::map<std::string, std::vector<std::string>> once;
  for (const auto& [name, workloads] : workloads_of) {
    if (workloads.size() == 1) once[workloads.front()].push_back(name);
  }
  return once;
}

double ratio_to_mlperf(const std::vector<WorkloadCoverage>& all) {
  const auto theirs = united(mlperf_networks(all)).size();
  if (theirs == 0) return 0;
  return static_cast<double>(united(pointers(all)).size()) / static_cast<double>(theirs);
}

}  // namespace

Result<std::vector<WorkloadCoverage>> cover(comparison::Services& services,
                                            const storage::BuildRow& build, const json& listed,
                                            std::stop_token stop) {
  TW_TRY(const auto runner, prepare_runner(services, build, stop));
  std::vector<WorkloadCoverage> all;
  for (const auto& item : listed.at("workloads")) {
    all.push_back({.workload = item.at("name").get<std::string>(),
                   .domain = item.value("domain", ""),
                   .operators = {},
                   .reasons = {}});
  }
  auto plan = comparison::make_plan(services.config, {}, {});
  plan.preset = Preset::small;
  services.progress.phase_started("watching one iteration of each workload");
  int done = 0;
  for (auto& each : all) {
    services.progress.progress(done++, static_cast<int>(all.size()), each.workload);
    for (const auto mode : {Mode::train, Mode::infer}) {
      const Benchmark benchmark{each.workload, {Device::cpu, mode}, {}};
      const auto request = comparison::request_for(plan, benchmark, Pass::coverage);
      TW_TRY(const auto result, run_unstored(services, runner, request, stop));
      for (const auto& [name, calls] : result.operators) each.operators.insert(name);
      if (result.status != RunStatus::ok) each.reasons.push_back(result.reason);
    }
  }
  return all;
}

void print_coverage(std::ostream& out, const std::vector<WorkloadCoverage>& all,
                    const terminal::Screen& screen) {
  using Align = terminal::Table::Align;
  terminal::Table table({{"domain"}, {"workloads", Align::right}, {"operators", Align::right}});
  for (const auto& [domain, of] : by_domain(all)) {
    table.add({domain, std::to_string(of.size()), std::to_string(united(of).size())});
  }
  table.add({"all", std::to_string(all.size()), std::to_string(united(pointers(all)).size())});
  table.print(out, screen);

  const auto theirs = mlperf_networks(all);
  std::vector<std::string> names;
  for (const auto* each : theirs) names.push_back(each->workload);
  const auto say = [&](const std::string& text, std::size_t indent) {
    out << terminal::wrapped(text, screen.columns, indent);
  };
  out << '\n';
  say(fmt::format("MLPerf's networks, as far as they are here ({}), reach {} operators: the suite "
                  "reaches {:.2f} times as many.",
                  fmt::join(names, ", "), united(theirs).size(), ratio_to_mlperf(all)),
      0);
  out << "\nReached by one workload only:\n";
  for (const auto& [workload, operators] : reached_once(all)) {
    say(fmt::format("  {}: {}", workload, fmt::join(operators, ", ")), 4);
  }
}

json coverage_json(const std::vector<WorkloadCoverage>& all) {
  json workloads = json::array();
  for (const auto& each : all) {
    workloads.push_back({{"name", each.workload},
                         {"domain", each.domain},
                         {"operators", each.operators},
                         {"reasons", each.reasons}});
  }
  json domains = json::object();
  for (const auto& [domain, of] : by_domain(all)) domains[domain] = united(of).size();
  return {{"schema", 1},
          {"workloads", workloads},
          {"operators", united(pointers(all)).size()},
          {"operators_by_domain", domains},
          {"operators_of_mlperf_networks", united(mlperf_networks(all)).size()},
          {"ratio_to_mlperf_networks", ratio_to_mlperf(all)},
          {"reached_by_one_workload", reached_once(all)}};
}

}  // namespace torchwatch::cli
