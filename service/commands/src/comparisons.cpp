#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/command.hpp"
#include "torchwatch/commands/comparison_output.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/control/service_now.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/setback.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/triage/triage.hpp"

namespace torchwatch::commands {
namespace {

using storage::ComparisonRow;

struct ListOptions {
  std::string state;
  std::string purpose;
  int limit = kItemsShown;
};

/// What is to be said of a comparison: what it waits for, else how it ended.
Result<std::string> remark_on(storage::Database& database, const ComparisonRow& row) {
  TW_TRY(auto waits, report::what_it_waits_for(database, storage::ItemKind::comparison, row.id));
  return waits.empty() ? report::remark_on(row) : waits;
}

Outcome run_list(const Invocation& invocation, const ListOptions& options) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, daemon::open_reader(config));
  const auto at_work = control::comparison_at_work(config);
  const auto fits = [&](const ComparisonRow& row) {
    if (!admits(options.purpose, to_string(row.purpose))) return false;
    if (admits(options.state, to_string(row.state))) return true;
    const auto shown = report::result_word(*database, row, at_work);
    return !shown || *shown == options.state;  // the error comes again where the row is listed
  };
  TW_TRY(const auto rows, newest_fitting<storage::ComparisonStore>(*database, options.limit, fits));
  using Fit = terminal::Table::Fit;
  constexpr std::size_t kRemarkMin = 30;
  Items items{terminal::Table({{"id", terminal::Table::Align::right},
                               {.heading = "started, UTC", .rank = 1, .fit = Fit::whole},
                               {.heading = "purpose", .fit = Fit::whole},
                               {"candidate"},
                               {"baseline"},
                               {.heading = "result", .fit = Fit::whole},
                               {.heading = "remark", .least = kRemarkMin, .fit = Fit::wrap}})};
  for (const auto& row : rows) {
    TW_TRY(const auto object, report::json_of(*database, row, at_work));
    TW_TRY(const auto remark, remark_on(*database, row));
    const auto name = [&](const char* side) {
      const auto& build = object.at(side);
      return build.is_null() ? std::string() : build.at("name").get<std::string>();
    };
    items.table.add({std::to_string(row.id), platform::date_and_minute(row.created_at),
                     std::string(to_string(row.purpose)), name("candidate"), name("baseline"),
                     object.at("result").get<std::string>(), remark});
    items.json.push_back(object);
  }
  const bool is_narrowed = !options.state.empty() || !options.purpose.empty();
  print(invocation, items,
        is_narrowed ? "No such comparison."
                    : "No comparison yet: `torchwatch nightly` carries out what is due.");
  return ExitStatus::done;
}

/// The comparison with that id; with 0 the newest nightly's.
Result<ComparisonRow> comparison_of(storage::Database& database, storage::Id id) {
  storage::ComparisonStore comparisons(database);
  if (id != 0) return comparisons.get(id);
  TW_TRY(const auto newest, report::newest_nightly(database));
  if (newest.known) return *newest.known;
  return fail(ErrorCode::not_found, "no nightly has been compared yet");
}

/// `wanted`: 0 for the newest nightly's.
Outcome run_show(const Invocation& invocation, storage::Id wanted, bool all) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, daemon::open_reader(config));
  TW_TRY(const auto row, comparison_of(*database, wanted));
  const auto history = history_of(config);
  TW_TRY(auto facts, gather(*database, config, history ? &*history : nullptr, row));
  TW_TRY(facts.stage, report::result_word(*database, row, control::comparison_at_work(config)));
  if (!invocation.json && !invocation.markdown) {
    TW_TRY(const auto remark, remark_on(*database, row));
    // Without verdicts the sentence that follows has the reason.
    const bool is_said = remark.empty() || (facts.verdicts.empty() && remark == row.reason);
    invocation.out << terminal::wrapped("comparison " + std::to_string(row.id) + ", " +
                                            std::string(to_string(row.purpose)) + ", " +
                                            facts.stage + (is_said ? "" : ": " + remark),
                                        invocation.screen.columns, 2);
  }
  TW_TRY(const auto status, print(invocation, *database, facts, all));
  // That it has not ended is not the fault of the environment.
  if (is_end(row.state)) return status;
  return facts.incidents.empty() ? ExitStatus::no_conclusion : ExitStatus::regression;
}

std::string path_of(storage::Id comparison, const std::string& action) {
  return "/api/v1/comparisons/" + std::to_string(comparison) + "/" + action;
}

Outcome run_cancel(const Invocation& invocation, storage::Id id) {
  const auto cancel = [id](comparison::Services& services) {
    return triage::cancel_comparison(services, id, this_user());
  };
  TW_TRY_VOID(make(invocation, {.path = path_of(id, "cancel"), .without_daemon = cancel}));
  return report_done(invocation, {.kind = "comparison",
                                  .item = id,
                                  .message = "comparison " + std::to_string(id) + " cancelled"});
}

Outcome run_retry(const Invocation& invocation, storage::Id id) {
  const auto retry = [id](comparison::Services& services) -> Status {
    TW_TRY_VOID(storage::ComparisonStore(services.database).retry(id));
    return {};
  };
  TW_TRY_VOID(make(invocation, {.path = path_of(id, "retry"), .without_daemon = retry}));
  return report_done(invocation, {.kind = "comparison",
                                  .item = id,
                                  .message = "comparison " + std::to_string(id) + " is due again"});
}

}  // namespace

void add_comparisons(Commands& all) {
  Noun noun(all, "comparison", "Comparisons: list, show, cancel, retry");
  auto narrowed = std::make_shared<ListOptions>();
  auto& list = noun.add(
      "list", "Recent comparisons, newest first, and what they wait for",
      [narrowed](const Invocation& invocation) { return run_list(invocation, *narrowed); });
  add_filter<storage::ComparisonState>(
      list, "state", narrowed->state,
      {"waiting", "preparing", "measuring", "judging", "searching", "reporting", "regressed",
       "lost", "improved", "unchanged", "inconclusive", "found", "missed", "first"});
  add_filter<storage::Purpose>(list, "purpose", narrowed->purpose);
  add_limit(list, narrowed->limit);
  list.footer("torchwatch comparison list --purpose nightly --limit 10");
  auto with_unchanged = std::make_shared<bool>(false);
  auto& show = noun.add_with_id("show", "Print what changed, and its incidents",
                                [with_unchanged](const Invocation& invocation, storage::Id id) {
                                  return run_show(invocation, id, *with_unchanged);
                                });
  show.get_option("ID")->required(false)->description(
      "As `torchwatch comparison list` lists it; default: the newest nightly's");
  show.add_flag("--all", *with_unchanged, "Print the unchanged series, too");
  all.add_format(show);
  noun.add_with_id("cancel", "Cancel a comparison that has not ended", run_cancel);
  noun.add_with_id(
      "retry",
      "Make one due at once that waits, or was refused, cancelled or given up, and try its "
      "builds again that were found unusable",
      run_retry);
}

}  // namespace torchwatch::commands
