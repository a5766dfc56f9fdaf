#include "torchwatch/detect/grouping.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace torchwatch::detect {
namespace {

/// What one cause tends to change together. The order is that of the incidents of a night.
enum class Class { time, peak, leak };

Class class_of(Metric metric) {
  switch (metric) {
    case Metric::time:
    case Metric::device_time:
      return Class::time;
    case Metric::cpu_peak:
    case Metric::device_peak:
    case Metric::cpu_peak_resident:
    case Metric::device_peak_total:
      return Class::peak;
    case Metric::leak_growth:
    case Metric::leak_retained:
    case Metric::heap_growth:
      return Class::leak;
  }
  return Class::time;
}

}  // namespace

std::vector<Group> group(std::span<const Change> changes) {
  std::map<std::pair<Class, Device>, Group> groups;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    if (!(change.effect > 0)) continue;
    const Class its_class = class_of(change.target.metric);
    Group& its_group = groups[{its_class, change.target.cell.configuration.device}];
    its_group.kind = its_class == Class::leak ? IncidentKind::leak : IncidentKind::regression;
    its_group.members.push_back(i);
  }
  std::vector<Group> result;
  for (auto& [key, made] : groups) {
    std::stable_sort(made.members.begin(), made.members.end(), [&](std::size_t a, std::size_t b) {
      return changes[a].effect > changes[b].effect;
    });
    result.push_back(std::move(made));
  }
  return result;
}

}  // namespace torchwatch::detect
