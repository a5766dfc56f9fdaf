#include "torchwatch/machines/compare.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/machines/side_by_side.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::machines {
namespace {

using nlohmann::json;
using storage::MachineClass;

Result<storage::BuildRow> find_build(storage::Database& database, const std::string& name) {
  TW_TRY(const auto builds, storage::BuildStore(database).list());
  const storage::BuildRow* newest = nullptr;
  for (const auto& build : builds) {
    const bool is_meant = build.name == name || std::to_string(build.id) == name;
    if (is_meant && (newest == nullptr || build.id > newest->id)) newest = &build;
  }
  if (newest != nullptr) return *newest;
  return fail(ErrorCode::not_found, "no build \"" + name + "\" has been measured",
              "`torchwatch build list` lists them");
}

constexpr const char* kHint = "`torchwatch machine list` lists the machines and their classes";

/// The class of a machine that is named by its number.
Result<MachineClass> class_of_machine(storage::Database& database, const std::string& number) {
  TW_TRY(const auto machines, storage::RunReader(database).machines());
  for (const auto& machine : machines) {
    if (std::to_string(machine.id) != number) continue;
    if (machine.machine_class) return *machine.machine_class;
    return fail(ErrorCode::not_found, "the class of machine " + number + " is not known", kHint);
  }
  return fail(ErrorCode::not_found, "there is no machine " + number, kHint);
}

Result<MachineClass> find_class(storage::Database& database, const std::string& text) {
  constexpr std::string_view kForm = "machine=";
  if (!text.starts_with(kForm) || text.size() == kForm.size()) {
    return fail(
        ErrorCode::invalid,
        "invalid \"" + text + "\": must be machine= and a machine's number or the name of a class",
        kHint);
  }
  const auto name = text.substr(kForm.size());
  const bool is_number = name.find_first_not_of("0123456789") == std::string::npos;
  if (is_number) return class_of_machine(database, name);
  TW_TRY(const auto classes, storage::machine_classes(database));
  std::vector<MachineClass> found;
  for (const auto& each : classes) {
    if (each.name == name) return each;
    if (each.name.find(name) != std::string::npos) found.push_back(each);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) return fail(ErrorCode::not_found, "no machine class \"" + name + "\"", kHint);
  return fail(ErrorCode::invalid, "several machine classes have \"" + name + "\" in their names",
              kHint);
}

json number_or_null(double value) {
  return std::isfinite(value) && value > 0 ? json(value) : json(nullptr);
}

json json_of(const Ratio& ratio) {
  const bool is_known = figures::is_known(ratio.low, ratio.high);
  return {{"ratio", ratio.ratio},
          {"interval", is_known ? json::array({ratio.low, ratio.high}) : json(nullptr)}};
}

json json_of(const Compared& compared) {
  auto object = report::json_of(compared.benchmark);
  object.update({{"a_ns", number_or_null(compared.a)},
                 {"b_ns", number_or_null(compared.b)},
                 {"runs_a", compared.runs_a},
                 {"runs_b", compared.runs_b}});
  object.update(json_of(compared.ratio));
  return object;
}

json json_of(const std::vector<Benchmark>& benchmarks) {
  auto list = json::array();
  for (const auto& benchmark : benchmarks) list.push_back(report::json_of(benchmark));
  return list;
}

json json_of(const storage::BuildRow& build, const MachineClass& a, const MachineClass& b,
             const SideBySide& sides) {
  json object{{"schema", 1},
              {"build", {{"id", build.id}, {"name", build.name}}},
              {"a", {{"id", a.id}, {"name", a.name}}},
              {"b", {{"id", b.id}, {"name", b.name}}},
              {"geometric_mean", sides.benchmarks.empty() ? json(nullptr) : json_of(sides.mean)},
              {"benchmarks", json::array()},
              {"only_a", json_of(sides.only_a)},
              {"only_b", json_of(sides.only_b)}};
  for (const auto& each : sides.benchmarks) object["benchmarks"].push_back(json_of(each));
  return object;
}

/// "-48.0 % [-50.1, -46.2]"
std::string text_of(const Ratio& ratio) {
  if (!figures::is_known(ratio.low, ratio.high))
    return figures::change(ratio.ratio) + ", too few runs";
  return figures::change(ratio.ratio) + " " + figures::interval(ratio.low, ratio.high);
}

void print_text(const commands::Invocation& invocation, const MachineClass& a,
                const MachineClass& b, const SideBySide& sides) {
  using terminal::Table;
  const auto time = [](double ns) { return figures::value(Metric::time, ns); };
  Table table({{"workload"},
               {"configuration"},
               {"A", Table::Align::right},
               {"B", Table::Align::right},
               {.heading = "B against A", .fit = Table::Fit::whole}});
  for (const auto& each : sides.benchmarks) {
    table.add({each.benchmark.workload, report::configuration_text(each.benchmark), time(each.a),
               time(each.b), text_of(each.ratio)});
  }
  auto& out = invocation.out;
  out << "A: " << a.name << "\nB: " << b.name << "\n\n";
  if (a.id == b.id) out << "Both are of one class, so this compares it with itself.\n\n";
  if (sides.benchmarks.empty()) {
    out << "Nothing has been measured on both.\n";
    return;
  }
  table.print(out, invocation.screen);
  out << "\ngeometric mean of " << sides.benchmarks.size() << ": " << text_of(sides.mean) << "\n";
  if (!sides.only_a.empty()) out << sides.only_a.size() << " benchmarks ran on A alone\n";
  if (!sides.only_b.empty()) out << sides.only_b.size() << " benchmarks ran on B alone\n";
  out << "Runs on two machines make no pairs: the intervals are those of single runs, and there is "
         "no verdict.\n";
}

}  // namespace

commands::Outcome compare_machines(const commands::Invocation& invocation, const Asked& asked) {
  TW_TRY(const auto database, commands::open_reader(invocation));
  TW_TRY(const auto a, find_class(*database, asked.a));
  TW_TRY(const auto b, find_class(*database, asked.b));
  TW_TRY(const auto build, find_build(*database, asked.build));
  TW_TRY(const auto values, storage::values_by_class(*database, build.id, Metric::time));
  const auto sides = side_by_side(values, a.id, b.id);
  if (invocation.json) {
    invocation.out << json_of(build, a, b, sides).dump(2) << '\n';
  } else {
    print_text(invocation, a, b, sides);
  }
  return commands::ExitStatus::done;
}

}  // namespace torchwatch::machines
