#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/access/token_store.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/random.hpp"
#include "torchwatch/report/view.hpp"

// Bearer tokens of the HTTP API.

namespace torchwatch::commands {
namespace {

using nlohmann::json;

struct NewToken {
  std::string name;
  std::string scopes = "read";
};

/// "2026-08-17 03:04"; "" for never.
std::string minute_of(const std::optional<storage::WallMillis>& time) {
  return time ? platform::date_and_minute(*time) : "";
}

/// The token itself is made here and shown once: only its hash is stored or sent.
Outcome run_create(const Invocation& invocation, const NewToken& wanted) {
  TW_TRY(const auto scopes, parse_scopes(wanted.scopes));
  platform::SystemRandom random;
  const auto token = http::make_token(random);
  const auto sha256 = http::hash_token(token);
  const auto add = [&](comparison::Services& services) -> Status {
    TW_TRY_VOID(storage::TokenStore(services.database)
                    .add(wanted.name, sha256, scopes, services.clock.wall_now(), this_user()));
    return {};
  };
  const json body{{"name", wanted.name}, {"scopes", to_string(scopes)}, {"sha256", sha256}};
  TW_TRY_VOID(make(invocation, {.path = "/api/v1/tokens", .body = body, .without_daemon = add}));
  if (invocation.json) {
    print_json(
        invocation,
        json{
            {"schema", 1}, {"name", wanted.name}, {"scopes", to_string(scopes)}, {"token", token}});
  } else {
    invocation.out << token << '\n';
    invocation.err << "This is the token \"" << wanted.name << "\" (" << to_string(scopes)
                   << "). It is shown only now: it is stored as a hash.\n";
  }
  return ExitStatus::done;
}

Outcome run_list(const Invocation& invocation) {
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto rows, storage::TokenStore(*database).list());
  using Fit = terminal::Table::Fit;
  Items items{terminal::Table({{"id", terminal::Table::Align::right},
                               {.heading = "name", .fit = Fit::whole},
                               {.heading = "scopes", .fit = Fit::wrap},
                               {.heading = "made, UTC", .rank = 2, .fit = Fit::whole},
                               {.heading = "made by", .rank = 3},
                               {.heading = "used, UTC", .rank = 1, .fit = Fit::whole},
                               {.heading = "revoked, UTC", .fit = Fit::whole}})};
  for (const auto& row : rows) {
    items.table.add({std::to_string(row.id), row.name, to_string(row.scopes),
                     platform::date_and_minute(row.made_at), row.made_by, minute_of(row.used_at),
                     minute_of(row.revoked_at)});
    items.json.push_back(report::json_of(row));
  }
  print(invocation, items, "No token. `torchwatch token create NAME` makes one.");
  return ExitStatus::done;
}

/// Finds the token that is meant by its id, or by the name of one that is not revoked.
Result<storage::Id> find(const Invocation& invocation, const std::string& text) {
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto rows, storage::TokenStore(*database).list());
  for (const auto& row : rows) {
    if (std::to_string(row.id) == text || (row.name == text && !row.revoked_at)) return row.id;
  }
  return fail(ErrorCode::not_found, "no token \"" + text + "\"",
              "`torchwatch token list` lists them");
}

Outcome run_revoke(const Invocation& invocation, const std::string& text) {
  TW_TRY(const auto id, find(invocation, text));
  const auto revoke = [id](comparison::Services& services) -> Status {
    TW_TRY_VOID(
        storage::TokenStore(services.database).revoke(id, services.clock.wall_now(), this_user()));
    return {};
  };
  TW_TRY_VOID(make(invocation, {.path = "/api/v1/tokens/" + std::to_string(id) + "/revoke",
                                .without_daemon = revoke}));
  return report_done(invocation,
                     {.kind = "token", .item = id, .message = "token " + text + " revoked"});
}

}  // namespace

void add_tokens(Commands& all) {
  Noun noun(all, "token", "Tokens of the HTTP API: create, list, revoke");
  auto wanted = std::make_shared<NewToken>();
  auto& create =
      noun.add("create", "Make a token and print it, this once",
               [wanted](const Invocation& invocation) { return run_create(invocation, *wanted); });
  create.add_option("NAME", wanted->name, "What it is for, such as grafana")->required();
  create
      .add_option(
          "--scopes", wanted->scopes,
          "What it allows, separated by commas: read; triage (decide on incidents); measure "
          "(ask for work, cancel and retry it); admin (tokens, builds, the database)")
      ->capture_default_str();
  create.footer("torchwatch token create ci --scopes read,measure");
  noun.add("list", "Tokens, what they allow and when they were used last", run_list);
  auto text = std::make_shared<std::string>();
  auto& revoke =
      noun.add("revoke", "End a token at once, for good",
               [text](const Invocation& invocation) { return run_revoke(invocation, *text); });
  revoke.add_option("TOKEN", *text, "Its name, or its id as `torchwatch token list` lists it")
      ->required();
  revoke.footer("torchwatch token revoke ci");
}

}  // namespace torchwatch::commands
