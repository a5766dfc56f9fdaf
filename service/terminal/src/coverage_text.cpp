#include "torchwatch/terminal/coverage_text.hpp"

#include <fmt/ranges.h>

#include <map>
#include <ostream>

#include "torchwatch/report/outcome.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::terminal {
namespace {

using nlohmann::json;

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
    if (report::is_mlperf_network(each.workload)) result.push_back(&each);
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

void print_coverage(std::ostream& out, const std::vector<WorkloadCoverage>& all,
                    const Screen& screen) {
  using Align = Table::Align;
  Table table({{"domain"}, {"workloads", Align::right}, {"operators", Align::right}});
  for (const auto& [domain, of] : by_domain(all)) {
    table.add({domain, std::to_string(of.size()), std::to_string(united(of).size())});
  }
  table.add({"all", std::to_string(all.size()), std::to_string(united(pointers(all)).size())});
  table.print(out, screen);

  const auto theirs = mlperf_networks(all);
  std::vector<std::string> names;
  for (const auto* each : theirs) names.push_back(each->workload);
  const auto say = [&](const std::string& text, std::size_t indent) {
    out << wrapped(text, screen.columns, indent);
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

}  // namespace torchwatch::terminal
