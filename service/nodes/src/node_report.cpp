#include "torchwatch/nodes/node_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "torchwatch/records/statistics.hpp"
#include "torchwatch/runs/class_values.hpp"
#include "torchwatch/runs/node_values.hpp"

namespace torchwatch::nodes {
namespace {

using storage::Id;
using storage::NodeValues;

constexpr int kNightlies = 30;
/// With 100 items of seven builds older nightlies add nothing, and a node that was repaired is soon
/// measured by what it does now.
constexpr int kItemsEnough = 100;
constexpr std::size_t kBuildsEnough = 7;
/// Most series are decided by two runs of each build. Asking for more would leave out what is calm.
constexpr std::size_t kRunsOfSpread = 2;
/// Runs that are equal to the clock's tick scatter by less than can be told.
constexpr double kSpreadLeast = 1e-4;

/// What a node measured of one build in one benchmark.
struct Measured {
  std::vector<double> logs = {};      ///< ln of the runs' times
  std::optional<double> spread = {};  ///< ln of the robust spread within the newest comparison
};

/// By build and benchmark, then by node.
using Items = std::map<std::pair<Id, Id>, std::map<std::string, Measured>>;

/// What comparisons measured on nodes, the newest added first.
class Collected {
 public:
  void add(const NodeValues& values) {
    std::vector<double> logs;
    for (const auto value : values.values) {
      if (value > 0) logs.push_back(std::log(static_cast<double>(value)));
    }
    if (logs.empty()) return;
    auto& of = classes_[values.machine_class][{values.build, values.benchmark}][values.node];
    const bool is_known = of.spread.has_value() || logs.size() < kRunsOfSpread;
    if (!is_known) of.spread = std::log(std::max(robust_sd(logs), kSpreadLeast));
    of.logs.insert(of.logs.end(), logs.begin(), logs.end());
  }

  /// Whether each node that has measured anything has enough items.
  bool has_enough() const {
    return !classes_.empty() && std::ranges::all_of(classes_, [](const auto& entry) {
      const auto shared = shared_of(entry.second);
      return std::ranges::all_of(shared, [](const auto& of) { return is_enough(of.second); });
    });
  }

  const std::map<Id, Items>& classes() const { return classes_; }

 private:
  /// What a node measured and others did, too.
  struct Shared {
    int items = 0;
    std::set<Id> builds = {};
  };
  static bool is_enough(const Shared& shared) {
    return shared.items >= kItemsEnough && shared.builds.size() >= kBuildsEnough;
  }
  static std::map<std::string, Shared> shared_of(const Items& items) {
    std::map<std::string, Shared> nodes;
    for (const auto& [key, by_node] : items) {
      for (const auto& [node, measured] : by_node) {
        auto& shared = nodes[node];
        if (by_node.size() < 2) continue;
        ++shared.items;
        shared.builds.insert(key.first);
      }
    }
    return nodes;
  }

  std::map<Id, Items> classes_;
};

std::vector<detect::NodeItem> times_of(const Items& items) {
  std::vector<detect::NodeItem> times;
  for (const auto& [key, by_node] : items) {
    detect::NodeItem item{.build = key.first};
    for (const auto& [node, measured] : by_node) item.logs[node] = median(measured.logs);
    times.push_back(std::move(item));
  }
  return times;
}

std::vector<detect::NodeItem> spreads_of(const Items& items) {
  std::vector<detect::NodeItem> spreads;
  for (const auto& [key, by_node] : items) {
    detect::NodeItem item{.build = key.first};
    for (const auto& [node, measured] : by_node) {
      if (measured.spread) item.logs[node] = *measured.spread;
    }
    spreads.push_back(std::move(item));
  }
  return spreads;
}

std::vector<NodeReport> reports_of(const Items& items) {
  std::vector<NodeReport> reports;
  for (auto& level : detect::node_levels(times_of(items), detect::kNodeTimeBeyond)) {
    reports.push_back({.node = level.node, .time = level});
  }
  for (auto& level : detect::node_levels(spreads_of(items), detect::kNodeNoiseBeyond)) {
    const auto of = std::ranges::find(reports, level.node, &NodeReport::node);
    if (of != reports.end()) of->noise = std::move(level);
  }
  return reports;
}

/// A service with one node has nothing to compare, so nothing of it is read.
bool are_on_several_nodes(const std::vector<storage::ComparisonOnNodes>& comparisons) {
  std::set<std::string> nodes;
  for (const auto& each : comparisons) nodes.insert(each.nodes.begin(), each.nodes.end());
  return nodes.size() > 1;
}

Result<Collected> collect(storage::Database& database) {
  Collected collected;
  TW_TRY(const auto comparisons, storage::comparisons_on_nodes(database, kNightlies));
  if (!are_on_several_nodes(comparisons)) return collected;
  for (const auto& each : comparisons) {
    if (collected.has_enough()) break;
    TW_TRY(const auto measured, storage::node_values_of(database, each.comparison));
    for (const auto& values : measured) collected.add(values);
  }
  return collected;
}

}  // namespace

Result<std::vector<ClassReport>> compare_nodes(storage::Database& database) {
  std::vector<ClassReport> reports;
  TW_TRY(const auto collected, collect(database));
  if (collected.classes().empty()) return reports;
  TW_TRY(const auto classes, storage::machine_classes(database));
  for (const auto& [id, items] : collected.classes()) {
    const auto of = std::ranges::find(classes, id, &storage::MachineClass::id);
    auto nodes = reports_of(items);
    const bool is_shown = of != classes.end() && nodes.size() > 1;
    if (is_shown) reports.push_back({.machine_class = *of, .nodes = std::move(nodes)});
  }
  return reports;
}

Result<std::vector<NodeReport>> nodes_of_class(
    storage::Database& database, const std::optional<storage::MachineClass>& machine_class) {
  if (!machine_class) return std::vector<NodeReport>();
  TW_TRY(const auto reports, compare_nodes(database));
  for (const auto& report : reports) {
    if (report.machine_class.id == machine_class->id) return report.nodes;
  }
  return std::vector<NodeReport>();
}

}  // namespace torchwatch::nodes
