#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/commands/selection_options.hpp"
#include "torchwatch/evidence/noise.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/heard/heard.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/records/statistics.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::commands {
namespace {

using nlohmann::json;

struct Options {
  SelectionOptions selection;
  int last = 30;
  bool commits = false;
};

Result<std::vector<Series>> selected_series(storage::Database& database,
                                            const comparison::Selection& selection) {
  TW_TRY(auto all, storage::RunStore(database).all_series());
  std::erase_if(all, [&](const Series& series) { return !is_selected(selection, series); });
  return all;
}

/// Refuses a workload without values that is not in the suite either. Errors: invalid, saying what
/// was probably meant.
Status check_found(const config::Config& config, const std::vector<Series>& found,
                   const comparison::Selection& selection) {
  return found.empty() ? check_selection(config, {.workloads = selection.workloads}) : Status{};
}

/// The smallest change that would be found in the series, as its page says it, whatever runs are
/// listed: as a ratio - 1; null where it is not known.
Result<json> minimum_detectable_effect(const config::Config& config, storage::Database& database,
                                       const Series& series) {
  TW_TRY(const auto settings, nightly::settings_of_next(config, database, series));
  TW_TRY(const auto noise, evidence::read_noise(database, series, settings));
  if (!noise || !noise->minimum_detectable_effect) return json(nullptr);
  return json(*noise->minimum_detectable_effect);
}

/// The build's name as a table has it.
std::string name_of(const storage::BuildRow& row) {
  return row.origin == storage::BuildOrigin::commit ? short_sha(row.name) : row.name;
}

Outcome run_list(const Invocation& invocation, const Options& options) {
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto selection, options.selection.selection());
  TW_TRY(const auto all, selected_series(*database, selection));
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY_VOID(check_found(config, all, selection));
  Items items{terminal::Table(
      {{"workload"},
       {"configuration"},
       {"metric"},
       {"newest value", terminal::Table::Align::right},
       {"build"},
       {.heading = "measured, UTC", .rank = 1, .fit = terminal::Table::Fit::whole}})};
  for (const auto& series : all) {
    TW_TRY(const auto history, storage::RunStore(*database).history(series, 1));
    if (history.empty()) continue;
    const auto& newest = history.back();
    TW_TRY(const auto build, storage::BuildStore(*database).get(newest.build));
    const auto value = static_cast<double>(newest.value);
    items.table.add({series.benchmark.workload, report::configuration_text(series.benchmark),
                     std::string(to_string(series.metric)), figures::value(series.metric, value),
                     name_of(build), platform::date_and_minute(newest.measured_at)});
    auto item = report::json_of(series);
    item.update(report::json_of(newest, build));
    items.json.push_back(std::move(item));
  }
  print(invocation, items, "No series: nothing of that has been measured yet.");
  return ExitStatus::done;
}

/// One series with its history.
struct Shown {
  Items runs{terminal::Table({{.heading = "measured, UTC", .fit = terminal::Table::Fit::whole},
                              {"build"},
                              {"value", terminal::Table::Align::right}})};
  json object;
};

Result<Shown> shown(storage::Database& database, const config::Config& config, const Series& series,
                    const Options& options) {
  using enum storage::RunStore::HistoryOf;
  storage::RunStore store(database);
  TW_TRY(const auto history,
         store.history(series, options.last, options.commits ? all_builds : published_builds));
  Shown shown;
  for (const auto& run : history) {
    TW_TRY(const auto build, storage::BuildStore(database).get(run.build));
    shown.runs.table.add({platform::date_and_minute(run.measured_at), name_of(build),
                          figures::value(series.metric, static_cast<double>(run.value))});
    shown.runs.json.push_back(report::json_of(run, build));
  }
  shown.object = report::json_of(series);
  shown.object["values"] = shown.runs.json;
  TW_TRY(shown.object["minimum_detectable_effect"],
         minimum_detectable_effect(config, database, series));
  shown.object["samples_ns"] = nullptr;
  if (history.empty() || series.metric != Metric::time) return shown;
  // Samples of old runs may have been thinned; the values stay.
  if (const auto samples = store.samples_of(history.back().attempt); samples) {
    shown.object["samples_ns"] = *samples;
  }
  return shown;
}

void print_samples(std::ostream& out, const json& samples) {
  if (!samples.is_array() || samples.empty()) return;
  const auto times = samples.get<std::vector<std::int64_t>>();
  const auto [least, greatest] = std::ranges::minmax(times);
  const auto text = [](std::int64_t time) {
    return figures::value(Metric::time, static_cast<double>(time));
  };
  out << "newest run: " << times.size() << " samples, least " << text(least) << ", median "
      << text(median(times)) << ", greatest " << text(greatest) << '\n';
}

Status print_mutes(std::ostream& out, storage::Database& database, const Series& series) {
  const auto now = platform::SystemClock().wall_now();
  TW_TRY(const auto mutes, heard::mutes_of(database, std::vector{series}, now));
  for (const auto& mute : mutes) {
    out << "muted (mute " << mute.id << "): " << printable(heard::mute_text(mute)) << '\n';
  }
  return {};
}

Outcome run_show(const Invocation& invocation, const Options& options) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, open_reader(invocation));
  TW_TRY(const auto selection, options.selection.selection());
  TW_TRY(const auto all, selected_series(*database, selection));
  TW_TRY_VOID(check_found(config, all, selection));
  if (all.empty()) {
    return fail(ErrorCode::not_found,
                "there is no such series: `torchwatch series list` has those with values");
  }
  auto objects = json::array();
  for (const auto& series : all) {
    TW_TRY(auto each, shown(*database, config, series, options));
    const auto& effect = each.object["minimum_detectable_effect"];
    if (!invocation.json) {
      invocation.out << (objects.empty() ? "" : "\n") << to_string(series) << '\n';
      invocation.out << "minimum detectable effect: "
                     << (effect.is_null() ? std::string("not known")
                                          : figures::change(1 + effect.get<double>()))
                     << '\n';
      print_samples(invocation.out, each.object["samples_ns"]);
      TW_TRY_VOID(print_mutes(invocation.out, *database, series));
      each.runs.table.print(invocation.out, invocation.screen);
      if (each.runs.table.empty()) invocation.out << "no run of a published build; see --commits\n";
    }
    objects.push_back(std::move(each.object));
  }
  if (invocation.json) {
    print_json(invocation, json{{"schema", 1}, {"items", objects}});
  }
  return ExitStatus::done;
}

}  // namespace

void add_series(Commands& all) {
  Noun noun(all, "series", "What has a history: list, show");
  const auto options = std::make_shared<Options>();
  auto& list =
      noun.add("list", "Each series that has values, with the newest one",
               [options](const auto& invocation) { return run_list(invocation, *options); });
  auto& show =
      noun.add("show",
               "The history of series, the samples of the newest run, and the minimum "
               "detectable effect",
               [options](const auto& invocation) { return run_show(invocation, *options); });
  for (auto* command : {&list, &show}) {
    options->selection.add_to(*command, Otherwise::all);
    options->selection.add_metric_to(*command);
  }
  show.add_option("--last", options->last, "How many runs of a series, the newest, 1 to 10000")
      ->check(whole_number(1, 10'000))
      ->capture_default_str();
  show.add_flag("--commits", options->commits,
                "Also runs of commits, as bisections measure them; a build is then a commit's id");
  show.footer("torchwatch series show --workload resnet18 --metric time");
}

}  // namespace torchwatch::commands
