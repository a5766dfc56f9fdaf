#include <charconv>

#include "handlers.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_reader.hpp"

namespace torchwatch::api {
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

json machine_json(const storage::MachineRow& machine) {
  return with_url({{"id", machine.id},
                   {"processor", fact(machine, "cpu_model")},
                   {"cores", number(machine, "cpus")},
                   {"kernel", fact(machine, "kernel")},
                   {"gpu", fact(machine, "gpu_model")},
                   {"gpu_driver", fact(machine, "gpu_driver")},
                   {"facts", machine.facts},
                   {"runs", machine.runs},
                   {"first_run_at", report::time_of(machine.first_run_at)},
                   {"last_run_at", report::time_of(machine.last_run_at)}},
                  "/api/v1/machines");
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

Result<Reply> get_machine(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto machine, storage::RunReader(backend.database).machine(id));
  return http::object_reply(machine_json(machine));
}

}  // namespace torchwatch::api
