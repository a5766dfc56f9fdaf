#include "torchwatch/records/machine_class.hpp"

#include <array>

namespace torchwatch {
namespace {

/// The migration that made the table of classes names the first three.
constexpr std::array kClassFacts{"cpu_model", "cpus", "gpu_model", "memory"};

}  // namespace

Facts class_facts(const Facts& facts) {
  Facts of_class;
  for (const auto* name : kClassFacts) {
    const auto fact = facts.find(name);
    if (fact != facts.end() && !fact->second.empty()) of_class.insert(*fact);
  }
  return of_class;
}

std::string class_name(const Facts& class_facts) {
  std::string name;
  for (const auto& [fact, value] : class_facts) {
    const auto text = fact != "cpus" ? value : value + (value == "1" ? " core" : " cores");
    name += (name.empty() ? "" : ", ") + text;
  }
  return name;
}

std::optional<std::string> class_difference(const Facts& wanted, const Facts& found) {
  for (const auto& [name, value] : wanted) {
    const auto fact = found.find(name);
    if (fact == found.end() || fact->second == value) continue;
    return name + ": " + value + " -> " + fact->second;
  }
  return std::nullopt;
}

}  // namespace torchwatch
