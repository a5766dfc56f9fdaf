#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/control/service_now.hpp"
#include "torchwatch/documents/request.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/outbox/outbox_waits.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/pulls/pulls.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/requests/wording.hpp"
#include "torchwatch/storage/request_store.hpp"

// What the daemon has been asked for, and what it has to say: requests and the outbox.

namespace torchwatch::commands {
namespace {

using nlohmann::json;

constexpr std::size_t kTextMin = 30;  ///< columns in which a sentence can be read

struct ListOptions {
  std::string state;
  std::string kind;
  int limit = kItemsShown;
};

Outcome run_requests(const Invocation& invocation, const ListOptions& options) {
  TW_TRY(const auto database, open_reader(invocation));
  const auto fits = [&](const storage::RequestRow& row) {
    return admits(options.state, to_string(row.state)) &&
           admits(options.kind, to_string(row.kind), requests::kind_text(row));
  };
  TW_TRY(const auto rows, newest_fitting<storage::RequestStore>(*database, options.limit, fits));
  using Fit = terminal::Table::Fit;
  Items items{terminal::Table({{"id", terminal::Table::Align::right},
                               {.heading = "asked, UTC", .rank = 2, .fit = Fit::whole},
                               {.heading = "kind", .rank = 3, .fit = Fit::whole},
                               {.heading = "asked for", .least = kTextMin, .fit = Fit::wrap},
                               {.heading = "by", .rank = 1},
                               {.heading = "state", .fit = Fit::whole},
                               {.heading = "result", .least = kTextMin, .fit = Fit::wrap}})};
  for (const auto& row : rows) {
    TW_TRY(auto object, report::json_of(*database, row));
    object["kind"] = requests::kind_text(row);
    const auto& waits = object.at("waits_for");
    items.table.add({std::to_string(row.id), platform::date_and_minute(row.created_at),
                     requests::kind_text(row), requests::asked_text(row),
                     report::name_of(row.asked_by), std::string(to_string(row.state)),
                     waits.is_null() ? requests::result_text(row) : waits.get<std::string>()});
    items.json.push_back(std::move(object));
  }
  print(invocation, items, "No request.");
  return ExitStatus::done;
}

Outcome run_cancel(const Invocation& invocation, storage::Id id) {
  const auto cancel = [id](comparison::Services& services) {
    return pulls::cancel_request(services, id, this_user());
  };
  TW_TRY_VOID(make(invocation, {.path = "/api/v1/requests/" + std::to_string(id) + "/cancel",
                                .without_daemon = cancel}));
  return report_done(
      invocation,
      {.kind = "request", .item = id, .message = "request " + std::to_string(id) + " cancelled"});
}

/// "incident 7", "webhook/chat", or the alarm whose issue it is.
std::string subject_of(const storage::OutboxRow& row) {
  if (row.incident != 0) return "incident " + std::to_string(row.incident);
  return row.target.empty() ? "alarm" : row.target;
}

Outcome run_outbox(const Invocation& invocation) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, daemon::open_reader(config));
  TW_TRY(const auto rows, storage::OutboxStore(*database).unsent());
  TW_TRY(const auto since, storage::OutboxWaits(*database).since());
  using Align = terminal::Table::Align;
  using Fit = terminal::Table::Fit;
  Items items{terminal::Table({{.heading = "key", .fit = Fit::whole},
                               {.heading = "about"},
                               {.heading = "kind", .rank = 1, .fit = Fit::whole},
                               {.heading = "state", .fit = Fit::whole},
                               {"failed", Align::right, 2},
                               {.heading = "last error", .least = kTextMin, .fit = Fit::wrap}})};
  for (const auto& row : rows) {
    const auto found = since.find(row.id);
    const auto time = found == since.end() ? "" : platform::iso_utc(found->second);
    items.table.add({row.key, subject_of(row), std::string(to_string(row.kind)),
                     std::string(to_string(row.state)),
                     figures::count(static_cast<std::size_t>(row.failures), "time") +
                         (time.empty() ? "" : " since " + time),
                     row.last_error});
    items.json.push_back(report::json_of(row));
    items.json.back()["since"] = time.empty() ? json() : json(time);
  }
  print(invocation, items, "Every message has been delivered.");
  const auto problem = control::problem_of(config, "outbox");
  if (!problem.empty() && !invocation.json) {
    invocation.out << '\n'
                   << terminal::wrapped("Nothing is delivered: " + problem + ".",
                                        invocation.screen.columns);
  }
  return ExitStatus::done;
}

Outcome run_retry(const Invocation& invocation, const std::string& key) {
  const auto retry = [&](comparison::Services& services) -> Status {
    TW_TRY_VOID(storage::OutboxStore(services.database).retry(key));
    return {};
  };
  TW_TRY_VOID(
      make(invocation,
           {.path = "/api/v1/outbox/retry", .body = {{"key", key}}, .without_daemon = retry}));
  return report_done(
      invocation, {.kind = "message", .item = key, .message = "message " + key + " is due again"});
}

}  // namespace

void add_requests(Commands& all) {
  Noun noun(all, "request", "What the daemon was asked for: list, cancel");
  auto options = std::make_shared<ListOptions>();
  auto& list = noun.add(
      "list", "Recent requests, newest first, and what they wait for",
      [options](const Invocation& invocation) { return run_requests(invocation, *options); });
  add_filter<storage::RequestState>(list, "state", options->state);
  add_filter<storage::RequestKind>(list, "kind", options->kind, {"comparison", "measurement"});
  add_limit(list, options->limit);
  noun.add_with_id("cancel", "Cancel a request that has not ended", run_cancel);
}

void add_outbox(Commands& all) {
  Noun noun(all, "outbox", "Messages to GitHub, webhooks and people: list, retry");
  noun.add("list", "Messages that have not been delivered, and why", run_outbox);
  auto key = std::make_shared<std::string>();
  auto& retry = noun.add("retry", "Send a message again that waits or was given up",
                         [key](const auto& invocation) { return run_retry(invocation, *key); });
  retry.add_option("KEY", *key, "As `torchwatch outbox list` lists it")->required();
  retry.footer("torchwatch outbox retry open-leak-6d2e5bc81f2c1e48-1");
}

}  // namespace torchwatch::commands
