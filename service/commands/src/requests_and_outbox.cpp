#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/commands/reader_command.hpp"
#include "torchwatch/commands/service_now.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

// What the daemon has been asked for, and what it has to say: requests and the outbox.

namespace torchwatch::commands {
namespace {

using nlohmann::json;

constexpr int kRequestsShown = 50;

/// A request for two named builds is one for a comparison, whichever endpoint took it.
std::string kind_text(const storage::RequestRow& row) {
  const auto body = report::embedded(row.body_json);
  const bool names_builds =
      row.kind == storage::RequestKind::nightly && body.is_object() && body.contains("candidate");
  return names_builds ? "comparison" : std::string(to_string(row.kind));
}

/// "the reason", or "comparison 4": what a request led to.
std::string result_text(const storage::RequestRow& row) {
  const auto result = report::embedded(row.result_json);
  for (const auto& [name, value] : result.items()) {
    return value.is_string() ? value.get<std::string>() : name + " " + value.dump();
  }
  return "";
}

Outcome run_requests(const Invocation& invocation) {
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto rows, storage::RequestStore(*database).list(kRequestsShown));
  Items items{terminal::Table(
      {{"id", terminal::Table::Align::right}, {"asked, UTC"}, {"kind"}, {"state"}, {"result"}})};
  for (const auto& row : rows) {
    TW_TRY(const auto waits, what_it_waits_for(*database, storage::ItemKind::request, row.id));
    items.table.add({std::to_string(row.id), platform::date_and_minute(row.created_at),
                     kind_text(row), std::string(to_string(row.state)),
                     waits.empty() ? result_text(row) : waits});
    items.json.push_back({{"id", row.id},
                          {"kind", to_string(row.kind)},
                          {"state", to_string(row.state)},
                          {"body", report::embedded(row.body_json)},
                          {"result", report::embedded(row.result_json)},
                          {"waits_for", report::text_or_null(waits)},
                          {"created_at", report::time_of(row.created_at)}});
  }
  print(invocation, items, "No request.");
  return ExitStatus::done;
}

Outcome run_cancel(const Invocation& invocation, storage::Id id) {
  const auto cancel = [id](comparison::Services& services) {
    return storage::RequestStore(services.database)
        .answer(id, storage::RequestState::cancelled,
                json{{"error", "cancelled by a person"}}.dump());
  };
  TW_TRY_VOID(make(invocation, {.path = "/api/v1/requests/" + std::to_string(id) + "/cancel",
                                .without_daemon = cancel}));
  invocation.out << "request " << id << " cancelled\n";
  return ExitStatus::done;
}

Outcome run_outbox(const Invocation& invocation) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, daemon::open_reader(config));
  TW_TRY(const auto rows, storage::IncidentStore(*database).unsent());
  Items items{terminal::Table({{"key"},
                               {"incident", terminal::Table::Align::right},
                               {"kind"},
                               {"state"},
                               {"tries", terminal::Table::Align::right},
                               {"last error"}})};
  for (const auto& row : rows) {
    items.table.add({row.key, row.incident == 0 ? "alarm" : std::to_string(row.incident),
                     std::string(to_string(row.kind)), std::string(to_string(row.state)),
                     std::to_string(row.tries), row.last_error});
    items.json.push_back({{"key", row.key},
                          {"incident", row.incident == 0 ? json() : json(row.incident)},
                          {"kind", to_string(row.kind)},
                          {"state", to_string(row.state)},
                          {"title", report::text_or_null(row.title)},
                          {"tries", row.tries},
                          {"not_before", report::time_of(row.not_before)},
                          {"last_error", report::text_or_null(row.last_error)}});
  }
  print(invocation, items, "Every message has been delivered.");
  const auto problem = problem_of(config, "outbox");
  if (!problem.empty() && !invocation.json) {
    invocation.out << '\n'
                   << terminal::wrapped("Nothing is delivered: " + problem + ".",
                                        invocation.screen.columns);
  }
  return ExitStatus::done;
}

Outcome run_retry(const Invocation& invocation, const std::string& key) {
  const auto retry = [&](comparison::Services& services) -> Status {
    TW_TRY_VOID(storage::IncidentStore(services.database).retry(key));
    return {};
  };
  TW_TRY_VOID(
      make(invocation,
           {.path = "/api/v1/outbox/retry", .body = {{"key", key}}, .without_daemon = retry}));
  invocation.out << "message " << key << " is due again\n";
  return ExitStatus::done;
}

}  // namespace

void add_requests(Commands& all) {
  Noun noun(all, "request", "What the daemon was asked for: list, cancel");
  noun.add("list", "Recent requests, newest first, and what they wait for", run_requests);
  noun.add_with_id("cancel", "Cancel a request that has not ended", run_cancel);
}

void add_outbox(Commands& all) {
  Noun noun(all, "outbox", "Messages to [github]: list, retry");
  noun.add("list", "Messages that have not been delivered, and why", run_outbox);
  auto key = std::make_shared<std::string>();
  auto& retry = noun.add("retry", "Send a message again that waits or was given up",
                         [key](const auto& invocation) { return run_retry(invocation, *key); });
  retry.add_option("KEY", *key, "As `torchwatch outbox list` lists it")->required();
  retry.footer("torchwatch outbox retry open-leak-6d2e5bc81f2c1e48-1");
}

}  // namespace torchwatch::commands
