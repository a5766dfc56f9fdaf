#include "torchwatch/mutes/command.hpp"

#include <memory>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/heard/heard.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::mutes {
namespace {

using commands::Invocation;
using commands::Outcome;
using storage::MuteRow;

struct ListOptions {
  bool is_all = false;
  int limit = commands::kItemsShown;
};

Outcome run_list(const Invocation& invocation, const ListOptions& options) {
  TW_TRY(const auto database, commands::open_reader(invocation));
  const auto now = platform::SystemClock().wall_now();
  const auto fits = [&](const MuteRow& row) { return options.is_all || row.until > now; };
  TW_TRY(const auto rows,
         commands::newest_fitting<storage::MuteStore>(*database, options.limit, fits));
  using terminal::Table;
  using Fit = Table::Fit;
  constexpr std::size_t kReasonMin = 20;
  commands::Items items{Table({{"id", Table::Align::right},
                               {.heading = "series", .fit = Fit::whole},
                               {.heading = "until, UTC", .fit = Fit::whole},
                               {.heading = "by", .rank = 1},
                               {.heading = "reason", .least = kReasonMin, .fit = Fit::wrap}})};
  for (const auto& row : rows) {
    items.table.add({std::to_string(row.id), row.target, platform::date_and_minute(row.until),
                     row.made_by, row.reason});
    items.json.push_back(heard::json_of(row, now, true));
  }
  print(invocation, items, "Nothing is muted.");
  return commands::ExitStatus::done;
}

Outcome run_lift(const Invocation& invocation, storage::Id id) {
  const auto lift = [id](comparison::Services& services) {
    return storage::MuteStore(services.database).lift(id, services.clock.wall_now());
  };
  TW_TRY_VOID(make(invocation, {.path = "/api/v1/mutes/" + std::to_string(id) + "/lift",
                                .without_daemon = lift}));
  return report_done(
      invocation,
      {.kind = "mute", .item = id, .message = "mute " + std::to_string(id) + " lifted"});
}

}  // namespace

void add_mutes(commands::Commands& all) {
  commands::Noun noun(all, "mute", "Series of which no incident is opened for a time: list, lift");
  auto options = std::make_shared<ListOptions>();
  auto& list =
      noun.add("list", "What people muted by a comment on GitHub, newest first",
               [options](const Invocation& invocation) { return run_list(invocation, *options); });
  list.add_flag("--all", options->is_all, "Also those that have ended");
  commands::add_limit(list, options->limit);
  noun.add_with_id("lift", "End a mute now: incidents of its series are opened again", run_lift);
}

}  // namespace torchwatch::mutes
