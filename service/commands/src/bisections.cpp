#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/comparison_output.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/commands/links.hpp"
#include "torchwatch/commands/page_text.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/culprit_tally.hpp"
#include "torchwatch/report/setback.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/terminal/bisection_text.hpp"
#include "torchwatch/triage/triage.hpp"

namespace torchwatch::commands {
namespace {

using storage::BisectionRow;

struct ListOptions {
  std::string state;
  int limit = kItemsShown;
};

/// What it searches: "resnet18 cpu-train time and 2 more".
std::string searched_text(const bisection::BisectionSpec& spec) {
  if (spec.series.empty()) return "nothing";
  const auto more = spec.series.size() - 1;
  return to_string(spec.series.front().series) +
         (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

/// "bed9e5a977bb", or why there is none, or what it waits for.
Result<std::string> result_text(storage::Database& database, const BisectionRow& row) {
  if (row.state == storage::BisectionState::open) {
    return report::what_it_waits_for(database, storage::ItemKind::bisection, row.id);
  }
  TW_TRY(const auto result, bisection::parse_bisection_result(row.result_json));
  if (result.culprits.empty()) return result.reason;
  std::string text;
  for (const auto& culprit : result.culprits) {
    for (const auto& commit : culprit.commits) {
      text += (text.empty() ? "" : ", ") + short_sha(commit);
    }
  }
  return text;
}

Outcome run_list(const Invocation& invocation, const ListOptions& options) {
  TW_TRY(const auto database, open_reader(invocation));
  const auto fits = [&](const BisectionRow& row) {
    return admits(options.state, to_string(row.state));
  };
  TW_TRY(const auto rows, newest_fitting<storage::BisectionStore>(*database, options.limit, fits));
  using Align = terminal::Table::Align;
  using Fit = terminal::Table::Fit;
  Items items{terminal::Table({{"id", Align::right},
                               {.heading = "started, UTC", .rank = 2, .fit = Fit::whole},
                               {"incident", Align::right, 1},
                               {.heading = "state", .fit = Fit::whole},
                               {.heading = "good", .rank = 3},
                               {.heading = "bad", .rank = 3},
                               {.heading = "searched", .fit = Fit::wrap},
                               {.heading = "result", .fit = Fit::wrap}})};
  for (const auto& row : rows) {
    TW_TRY(const auto spec, bisection::parse_bisection_spec(row.spec_json));
    TW_TRY(const auto result, result_text(*database, row));
    items.table.add({std::to_string(row.id), platform::date_and_minute(row.created_at),
                     row.incident ? std::to_string(*row.incident) : "",
                     std::string(to_string(row.state)), short_sha(row.good), short_sha(row.bad),
                     searched_text(spec), result});
    items.json.push_back(report::json_of(row));
  }
  print(invocation, items, options.state.empty() ? "No bisection yet." : "No such bisection.");
  const auto tally = report::culprit_tally(rows);
  if (!invocation.json && tally.named > 0) {
    invocation.out << '\n' << report::culprit_tally_text(tally) << '\n';
  }
  return ExitStatus::done;
}

Outcome run_show(const Invocation& invocation, storage::Id id) {
  TW_TRY(const auto database, open_reader(invocation));
  storage::BisectionStore store(*database);
  TW_TRY(const auto row, store.get(id));
  TW_TRY(const auto events, store.events_of(id));
  TW_TRY(const auto trace, bisection::trace_of(row, events));
  if (invocation.json) {
    auto object = report::json_of(row);
    object["schema"] = 1;
    object["bisection_trace"] = report::json_list(trace);
    print_json(invocation, object);
    return ExitStatus::done;
  }
  if (invocation.markdown) {
    TW_TRY(const auto config, invocation.load_config());
    TW_TRY_VOID(print_page(invocation, config, *database, page_of(row)));
    return ExitStatus::done;
  }
  TW_TRY(const auto spec, bisection::parse_bisection_spec(row.spec_json));
  invocation.out << "bisection " << id << ", " << to_string(row.state) << ", of "
                 << searched_text(spec) << " between " << short_sha(row.good) << " and "
                 << short_sha(row.bad) << "\n\n";
  if (spec.dispute) {
    invocation.out << "bisection " << spec.dispute->bisection << " again: " << spec.dispute->by
                   << " disputes what it named: " << spec.dispute->reason << "\n\n";
  }
  if (row.state == storage::BisectionState::ended) {
    TW_TRY(const auto result, bisection::parse_bisection_result(row.result_json));
    TW_TRY(const auto config, invocation.load_config());
    const auto history = history_of(config);
    const terminal::AskedCommits asked{
        .good = short_sha(row.good), .bad = short_sha(row.bad), .suspect = {}};
    print_linked(invocation, [&](auto& out) {
      terminal::print(out, result, history ? &*history : nullptr, asked, invocation.screen);
    });
    invocation.out << '\n';
  }
  print_linked(invocation, [&](auto& out) { terminal::print(out, trace, invocation.screen); });
  return ExitStatus::done;
}

Outcome run_cancel(const Invocation& invocation, storage::Id id) {
  TW_TRY_VOID(make(invocation, {.path = "/api/v1/bisections/" + std::to_string(id) + "/cancel",
                                .without_daemon = [id](auto& services) {
                                  return triage::cancel_bisection(services, id, this_user());
                                }}));
  return report_done(invocation, {.kind = "bisection",
                                  .item = id,
                                  .message = "bisection " + std::to_string(id) + " cancelled"});
}

}  // namespace

void add_bisections(Commands& all) {
  Noun noun(all, "bisection", "Searches for a commit: list, show, cancel");
  auto options = std::make_shared<ListOptions>();
  auto& list =
      noun.add("list", "Recent bisections, newest first, and what they named",
               [options](const Invocation& invocation) { return run_list(invocation, *options); });
  add_filter<storage::BisectionState>(list, "state", options->state);
  add_limit(list, options->limit);
  all.add_format(noun.add_with_id("show", "Print its result and its steps", run_show));
  noun.add_with_id("cancel",
                   "Cancel a search that has not ended; its incident then names no commit",
                   run_cancel);
}

}  // namespace torchwatch::commands
