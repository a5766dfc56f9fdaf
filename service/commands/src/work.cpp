#include "torchwatch/commands/work.hpp"

#include <unistd.h>

#include <filesystem>
#include <ostream>

#include "torchwatch/access/audit_store.hpp"
#include "torchwatch/control/control_client.hpp"
#include "torchwatch/events/lines.hpp"
#include "torchwatch/requests/check.hpp"

namespace torchwatch::commands {
namespace {

using nlohmann::json;

/// A change that a row's state does not allow is the asker's mistake, not the machine's.
Result<json> as_wrong_use(Result<json> changed) {
  if (changed || changed.error().code != ErrorCode::conflict) return changed;
  return fail(changed.error().as(ErrorCode::invalid));
}

Status change_here(comparison::Services& services, const Change& change) {
  TW_TRY_VOID(change.without_daemon(services));
  return storage::AuditStore(services.database)
      .add({.path = change.path,
            .item = change.body.value("key", change.body.value("name", "")),
            .asked_by = to_string(this_user()),
            .asked_at = services.clock.wall_now()});
}

/// Hands the work over, and prints under which number the daemon has taken it on.
Outcome hand_over(const Invocation& invocation, const control::ControlClient& daemon,
                  const Work& work) {
  TW_TRY(const auto receipt, daemon.post(work.path, work.body));
  const auto id = receipt.value("id", std::int64_t{0});
  if (invocation.json) {
    const json taken{{"schema", 1},
                     {"request", id},
                     {"state", receipt.value("state", "")},
                     {"url", "/api/v1/requests/" + std::to_string(id)}};
    print_json(invocation, taken);
  } else {
    invocation.out << "The daemon, process " << daemon.process() << ", has taken it on as request "
                   << id << ".\n`torchwatch request list` shows what becomes of it.\n";
  }
  return ExitStatus::done;
}

}  // namespace

std::string build_for_daemon(const std::string& name) {
  std::error_code error;
  if (!std::filesystem::is_directory(name, error)) return name;
  return std::filesystem::canonical(name, error).string();
}

storage::Asker this_user() {
  return {.user = getuid()};
}

Result<json> make(const Invocation& invocation, const Change& change) {
  TW_TRY(auto config, invocation.load_config());
  TW_TRY(const auto daemon, control::ControlClient::find(config));
  if (daemon) return as_wrong_use(daemon->post(change.path, change.body));
  TW_TRY_VOID(daemon::require_database(config));
  TW_TRY(const auto opened, open_beside(invocation, std::move(config), daemon::Access::change));
  const auto changed = change_here(opened.services(), change);
  return as_wrong_use(changed ? Result<json>(json::object()) : Result<json>(fail(changed.error())));
}

Outcome carry_out(const Invocation& invocation, const config::Config& config, const Work& work) {
  // A typo is found also where the database cannot be opened.
  const auto reader = daemon::open_reader(config);
  std::vector<std::string> workloads;
  if (work.body.contains("workloads") || work.body.contains("settings")) {
    TW_TRY(workloads, daemon::suite_workloads(config));
  }
  TW_TRY_VOID(requests::check({.config = config,
                               .database = reader ? reader->get() : nullptr,
                               .workloads = std::move(workloads),
                               .has_gpu = requests::has_gpu()},
                              work.kind, work.body, requests::Asking::from_this_machine));
  TW_TRY(auto who, find_who_works(invocation, config));
  if (const auto* daemon = std::get_if<control::ControlClient>(&who)) {
    return hand_over(invocation, *daemon, work);
  }
  auto& opened = std::get<SessionOfCommand>(who);
  TW_TRY_VOID(reserve_disk(opened));
  std::unique_ptr<events::Lines> lines;
  if (invocation.events != nullptr) {
    TW_TRY(lines, events::Lines::start(opened.services().database, *invocation.events));
  }
  return work.without_daemon(opened);
}

}  // namespace torchwatch::commands
