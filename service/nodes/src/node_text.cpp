#include <cmath>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/nodes/node_report.hpp"

namespace torchwatch::nodes {
namespace {

using detect::NodeLevel;
using nlohmann::json;

bool is_known(const NodeLevel& level) {
  return figures::is_known(level.low, level.high);
}

json json_of(const NodeLevel& level) {
  if (!is_known(level)) return {{"items", level.items}, {"ratio", nullptr}, {"interval", nullptr}};
  return {{"items", level.items},
          {"ratio", level.ratio},
          {"interval", json::array({level.low, level.high})}};
}

/// "28 to 33 %": whole per cents, rounded outwards.
std::string percents(double low, double high) {
  constexpr double kPercent = 100;
  return std::to_string(std::lround(std::floor(kPercent * low))) + " to " +
         std::to_string(std::lround(std::ceil(kPercent * high))) + " %";
}

std::string percent(double share) {
  constexpr double kPercent = 100;
  return std::to_string(std::lround(kPercent * share)) + " %";
}

/// "40 benchmarks of 5 builds"
std::string evidence(const NodeLevel& level) {
  return figures::count(static_cast<std::size_t>(level.items), "benchmark") + " of " +
         figures::count(static_cast<std::size_t>(level.builds), "build");
}

/// "takes 30 % longer (28 to 33 %, 40 benchmarks of 5 builds) than"
std::string time_text(const NodeLevel& level) {
  const bool is_slower = level.ratio > 1;
  const double low = is_slower ? level.low - 1 : 1 - level.high;
  const double high = is_slower ? level.high - 1 : 1 - level.low;
  const double by = is_slower ? level.ratio - 1 : 1 - level.ratio;
  return "takes " + percent(by) + (is_slower ? " longer (" : " less time (") + percents(low, high) +
         ", " + evidence(level) + ") than";
}

/// One decimal: a spread is not known better.
std::string times(double ratio) {
  constexpr double kTenth = 10;
  return figures::number(std::round(kTenth * ratio) / kTenth);
}

/// "measures 3.1 times as noisily (2.4 to 4.2 times, 40 benchmarks of 5 builds) as"
std::string noise_text(const NodeLevel& level) {
  return "measures " + times(level.ratio) + " times as noisily (" + times(level.low) + " to " +
         times(level.high) + " times, " + evidence(level) + ") as";
}

std::string sentence(const ClassReport& report, const std::string& node, const std::string& what) {
  const auto others = report.nodes.size() == 2 ? " the other one" : " the others";
  return "node " + node + " of the class " + report.machine_class.name + " " + what + others +
         " of its class: leave it out by options = [\"--exclude=" + node +
         "\"] of [slurm] or of its [[slurm.class]], or repair it";
}

}  // namespace

json json_of(const std::vector<NodeReport>& nodes, bool is_trusted) {
  auto list = json::array();
  for (const auto& node : nodes) {
    list.push_back({{"node", is_trusted ? json(node.node) : json(nullptr)},
                    {"time", json_of(node.time)},
                    {"noise", json_of(node.noise)},
                    {"differs", node.time.differs},
                    {"noisier", node.is_noisier()}});
  }
  return list;
}

std::vector<std::string> complaints_about(const ClassReport& report) {
  std::vector<std::string> all;
  for (const auto& node : report.nodes) {
    const bool is_one_of_two = report.nodes.size() == 2 && node.time.ratio < 1;
    const bool differs = node.time.differs && !is_one_of_two;
    if (differs) all.push_back(sentence(report, node.node, time_text(node.time)));
    if (node.is_noisier()) all.push_back(sentence(report, node.node, noise_text(node.noise)));
  }
  return all;
}

}  // namespace torchwatch::nodes
