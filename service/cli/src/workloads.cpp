#include <ostream>

#include "commands.hpp"
#include "runner_call.hpp"
#include "session_command.hpp"
#include "table.hpp"
#include "torchwatch/daemon/resolve.hpp"

namespace torchwatch::cli {
namespace {

using nlohmann::json;

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

Outcome run_workloads(const Invocation& invocation, const std::string& build_name) {
  TW_TRY(auto opened, open_session(invocation));
  storage::BuildRow build;
  if (build_name.empty()) {
    TW_TRY(build, newest_build(*opened.session));
  } else {
    TW_TRY(build, daemon::resolve_build(*opened.session, build_name, invocation.stop));
  }
  TW_TRY(const auto listed, call_runner(*opened.session, build, "list", invocation.stop));
  if (invocation.json) {
    invocation.out << listed.dump(2) << '\n';
    return ExitStatus::done;
  }
  using Align = Table::Align;
  Table table({{"workload"},
               {"domain"},
               {"task"},
               {"parameters", Align::right},
               {"train batch", Align::right},
               {"eval batch", Align::right}});
  for (const auto& item : listed.is_object() ? listed.value("workloads", json::array()) : listed) {
    table.add({text_of(item, "name"), text_of(item, "domain"), text_of(item, "task"),
               text_of(item, "params_trainable"), text_of(item, "train_batch"),
               text_of(item, "eval_batch")});
  }
  table.print(invocation.out);
  return ExitStatus::done;
}

}  // namespace

void add_workloads(Commands& commands) {
  auto build = std::make_shared<std::string>();
  auto& command = commands.add(
      "workloads", "The suite: each workload with its parameters and batch sizes",
      [build](const Invocation& invocation) { return run_workloads(invocation, *build); });
  command.add_option("--build", *build, "Ask the runner of this BUILD; default: the newest known");
}

}  // namespace torchwatch::cli
