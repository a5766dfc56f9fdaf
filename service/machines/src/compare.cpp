#include "torchwatch/machines/compare.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/evidence/side_by_side.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::machines {
namespace {

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

void print_text(const commands::Invocation& invocation, const evidence::BuildOnTwo& compared) {
  using terminal::Table;
  const auto time = [](double ns) { return figures::value(Metric::time, ns); };
  Table table({{"workload"},
               {"configuration"},
               {"A", Table::Align::right},
               {"B", Table::Align::right},
               {.heading = "B against A", .fit = Table::Fit::whole}});
  for (const auto& each : compared.sides.benchmarks) {
    table.add({each.benchmark.workload, report::configuration_text(each.benchmark), time(each.a),
               time(each.b), evidence::text_of(each.ratio)});
  }
  auto& out = invocation.out;
  out << "A: " << compared.a.name << "\nB: " << compared.b.name << "\n\n";
  if (compared.a.id == compared.b.id) {
    out << "Both are of one class, so this compares it with itself.\n\n";
  }
  if (!compared.sides.benchmarks.empty()) {
    table.print(out, invocation.screen);
    out << "\n";
  }
  for (const auto& sentence : evidence::sentences_on(compared.sides)) out << sentence << "\n";
}

}  // namespace

commands::Outcome compare_machines(const commands::Invocation& invocation, const Asked& asked) {
  TW_TRY(const auto database, commands::open_reader(invocation));
  TW_TRY(const auto a, find_class(*database, asked.a));
  TW_TRY(const auto b, find_class(*database, asked.b));
  TW_TRY(const auto build, find_build(*database, asked.build));
  TW_TRY(const auto compared, evidence::times_on(*database, build, a, b));
  if (invocation.json) {
    commands::print_json(invocation, evidence::json_of(compared, true));
  } else {
    print_text(invocation, compared);
  }
  return commands::ExitStatus::done;
}

}  // namespace torchwatch::machines
