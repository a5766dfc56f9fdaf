#include "handlers.hpp"
#include "torchwatch/evidence/side_by_side.hpp"
#include "torchwatch/nodes/node_report.hpp"
#include "torchwatch/report/machine.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/runs/machine_conditions.hpp"
#include "torchwatch/runs/run_reader.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;

json machine_json(const storage::MachineRow& machine) {
  return with_url(report::json_of(machine), "/api/v1/machines");
}

}  // namespace

Result<Reply> list_machines(const Request& request, const Backend& backend) {
  TW_TRY(const auto page, http::page_of(request));
  TW_TRY(const auto machines, storage::RunReader(backend.database).machines());
  auto entries = json::array();
  for (const auto& machine : machines) {
    if (machine.id >= page.before) continue;
    if (static_cast<int>(entries.size()) > page.limit) break;
    entries.push_back(machine_json(machine));
  }
  return list_reply("machines", std::move(entries), page);
}

Result<Reply> compare_machines(const Request& request, const Backend& backend) {
  TW_TRY(const auto ids, http::ids_of(request, {"build", "a", "b"}));
  TW_TRY(const auto compared, evidence::times_on(backend.database, evidence::asked_on_two(ids)));
  return http::object_reply(evidence::json_of(compared, request.is_trusted));
}

Result<Reply> get_machine(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto machine, storage::RunReader(backend.database).machine(id));
  TW_TRY(const auto conditions, storage::conditions_of(backend.database, id));
  TW_TRY(const auto self_tests, storage::self_tests_on(backend.database, id));
  TW_TRY(const auto drills, storage::drills_on(backend.database, id));
  TW_TRY(const auto nodes, nodes::nodes_of_class(backend.database, machine.machine_class));
  auto out = machine_json(machine);
  out["conditions"] = report::json_of(conditions);
  out["self_tests"] = report::json_of(self_tests);
  out["drills"] = report::json_of(drills);
  out["nodes"] = nodes::json_of(nodes, request.is_trusted);
  return http::object_reply(out);
}

}  // namespace torchwatch::api
