#include "torchwatch/detect/grouping.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace torchwatch::detect {
namespace {

/// Metrics that one cause tends to change together, in the order of a comparison's incidents.
enum class Class { time, operator_time, peak, leak, result };

Class class_of(Metric metric) {
  switch (metric) {
    case Metric::time:
    case Metric::device_time:
    case Metric::first_iteration:  // this and the next two are not judged
    case Metric::throughput:
    case Metric::compile_time:
      return Class::time;
    case Metric::cpu_peak:
    case Metric::compile_peak:  // this and the next one are not judged
    case Metric::package_size:
    case Metric::device_peak:
    case Metric::cpu_peak_resident:
    case Metric::device_peak_total:
      return Class::peak;
    case Metric::leak_growth:
    case Metric::leak_retained:
    case Metric::heap_growth:
      return Class::leak;
    case Metric::output_difference:
      return Class::result;
  }
  return Class::time;
}

/// An operator's own time changes where no workload's does.
Class class_of(const Series& series) {
  return is_of_operator(series.benchmark) ? Class::operator_time : class_of(series.metric);
}

IncidentKind kind_of(Class its_class) {
  if (its_class == Class::leak) return IncidentKind::leak;
  return its_class == Class::result ? IncidentKind::result : IncidentKind::regression;
}

}  // namespace

std::vector<Group> group(std::span<const Change> changes) {
  std::map<std::pair<Class, Device>, Group> groups;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    if (!(change.effect > 0)) continue;
    const Class its_class = class_of(change.series);
    Group& its_group = groups[{its_class, change.series.benchmark.configuration.device}];
    its_group.kind = kind_of(its_class);
    its_group.members.push_back(i);
  }
  std::vector<Group> result;
  for (auto& [key, group] : groups) {
    std::ranges::stable_sort(group.members, std::ranges::greater{},
                             [&](std::size_t member) { return changes[member].effect; });
    result.push_back(std::move(group));
  }
  return result;
}

}  // namespace torchwatch::detect
