#include "torchwatch/report/machine.hpp"

#include <charconv>

#include "torchwatch/report/view.hpp"

namespace torchwatch::report {
namespace {

using nlohmann::json;

json fact(const storage::MachineRow& machine, const char* name) {
  const auto found = machine.facts.find(name);
  return found == machine.facts.end() ? json(nullptr) : json(found->second);
}

/// A fact that is a number; null for anything else.
json number(const storage::MachineRow& machine, const char* name) {
  const auto found = machine.facts.find(name);
  if (found == machine.facts.end()) return nullptr;
  const auto& text = found->second;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? json(value) : json(nullptr);
}

}  // namespace

json json_of(const std::optional<storage::MachineClass>& machine_class) {
  if (!machine_class) return nullptr;
  return {{"id", machine_class->id}, {"name", machine_class->name}};
}

json json_of(const storage::MachineConditions& conditions) {
  json temperature;
  if (const auto& of = conditions.temperatures) {
    constexpr double kDegree = 1000;
    temperature = {{"least", static_cast<double>(of->least) / kDegree},
                   {"median", static_cast<double>(of->median) / kDegree},
                   {"most", static_cast<double>(of->most) / kDegree},
                   {"newest", static_cast<double>(of->newest) / kDegree}};
  }
  return {{"runs", conditions.runs},
          {"temperature", temperature},
          {"load",
           {{"least", conditions.load_least},
            {"median", conditions.load_median},
            {"most", conditions.load_most}}},
          {"stolen_share", conditions.stolen_share}};
}

json json_of(const storage::MachineRow& machine) {
  return {{"id", machine.id},
          {"machine_class", json_of(machine.machine_class)},
          {"processor", fact(machine, "cpu_model")},
          {"cores", number(machine, "cpus")},
          {"kernel", fact(machine, "kernel")},
          {"gpu", fact(machine, "gpu_model")},
          {"gpu_driver", fact(machine, "gpu_driver")},
          {"facts", machine.facts},
          {"runs", machine.runs},
          {"first_run_at", time_of(machine.first_run_at)},
          {"last_run_at", time_of(machine.last_run_at)}};
}

}  // namespace torchwatch::report
