#include "torchwatch/report/machine.hpp"

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
  const auto text = fact(machine, name);
  const auto value = text.is_string() ? json::parse(text.get<std::string>(), nullptr, false) : text;
  return value.is_number_integer() ? value : json(nullptr);
}

/// What runs state of one thing, with `unit` of the stored one in the one that is shown.
json spread_json(const std::optional<storage::Spread>& spread, double unit) {
  if (!spread) return nullptr;
  const auto shown = [unit](std::int64_t value) { return static_cast<double>(value) / unit; };
  return {{"least", shown(spread->least)},
          {"median", shown(spread->median)},
          {"most", shown(spread->most)},
          {"newest", shown(spread->newest)}};
}

}  // namespace

json json_of(const std::optional<storage::MachineClass>& machine_class) {
  if (!machine_class) return nullptr;
  return {{"id", machine_class->id}, {"name", machine_class->name}};
}

json json_of(const storage::MachineConditions& conditions) {
  constexpr double kDegree = 1000;
  return {{"runs", conditions.runs},
          {"temperature", spread_json(conditions.temperatures, kDegree)},
          {"arithmetic_ns", spread_json(conditions.arithmetic, 1)},
          {"copy_ns", spread_json(conditions.copy, 1)},
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
