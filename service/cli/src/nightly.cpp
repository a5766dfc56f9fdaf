#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <ranges>

#include "commands.hpp"
#include "torchwatch/commands/comparison_output.hpp"
#include "torchwatch/commands/links.hpp"
#include "torchwatch/commands/page_text.hpp"
#include "torchwatch/commands/selection_options.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/control/control_client.hpp"
#include "torchwatch/daemon/daemon.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/requests/due.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::cli {
namespace {

struct NightlyOptions {
  std::string baseline;
  std::string candidate;
  bool all = false;
  commands::SelectionOptions suite;
};

Result<std::vector<storage::ComparisonRow>> due_comparisons(commands::SessionOfCommand& opened,
                                                            const NightlyOptions& options,
                                                            std::stop_token stop) {
  auto& services = opened.services();
  if (options.candidate.empty()) return nightly::discover_comparisons(services, stop);
  TW_TRY(const auto selection, options.suite.selection());
  TW_TRY(const auto candidate, daemon::resolve_build(*opened.application, options.candidate, stop));
  TW_TRY(const auto baseline, daemon::resolve_build(*opened.application, options.baseline, stop));
  TW_TRY(auto comparison,
         nightly::open_requested_comparison(services, candidate.id, baseline.id, true, selection));
  return std::vector{std::move(comparison)};
}

/// A build's comparison with itself says nothing of the build: it is carried out along with the
/// others, and neither printed here nor part of the exit status.
bool is_with_itself(const storage::ComparisonRow& comparison) {
  return comparison.purpose == storage::Purpose::self_test ||
         comparison.purpose == storage::Purpose::drill ||
         comparison.purpose == storage::Purpose::study;
}

void print_list(const Invocation& invocation, const nlohmann::json& comparisons) {
  commands::print_json(invocation, nlohmann::json{{"schema", 1}, {"comparisons", comparisons}});
}

/// Prints all of them, none included, and returns the status that they mean together.
Outcome show(const Invocation& invocation, comparison::Services& services,
             const std::vector<storage::ComparisonRow>& comparisons, bool all) {
  auto& database = services.database;
  auto status = ExitStatus::done;
  auto array = nlohmann::json::array();
  for (const auto& comparison : comparisons) {
    TW_TRY(const auto facts,
           commands::gather(database, services.config, services.history, comparison));
    status = worse(status, commands::exit_status_of(facts));
    if (invocation.json) {
      TW_TRY(auto object, commands::to_json(database, facts));
      array.push_back(std::move(object));
    } else if (invocation.markdown) {
      TW_TRY_VOID(commands::print_page(invocation, services.config, database,
                                       commands::page_of(comparison)));
    } else {
      if (&comparison != &comparisons.front()) invocation.out << '\n';
      commands::print_linked(
          invocation, [&](auto& out) { terminal::print(out, facts, all, invocation.screen); });
    }
  }
  if (invocation.json) print_list(invocation, array);
  return status;
}

/// Which nightly has ended without a verdict, why, and how it gets one; empty where the newest has
/// one.
std::string without_verdict(const std::optional<storage::ComparisonRow>& newest,
                            const std::vector<storage::BuildRow>& builds) {
  using enum storage::ComparisonState;
  if (!newest ||
      (newest->state != refused && newest->state != failed && newest->state != cancelled))
    return {};
  const auto build = std::ranges::find(builds, newest->candidate, &storage::BuildRow::id);
  const auto id = std::to_string(newest->id);
  return (build == builds.end() ? "the newest nightly" : build->name) +
         " has no verdict: comparison " + id + " is " + std::string(to_string(newest->state)) +
         (newest->reason.empty() ? "" : ": " + newest->reason) + "; `torchwatch comparison retry " +
         id + "` takes it up again.";
}

/// Errors: unavailable, when the channel has nightlies, and none of them could be used yet.
Outcome show_nothing_due(const Invocation& invocation, storage::Database& database) {
  TW_TRY(const auto newest, storage::ComparisonStore(database).list(1));
  TW_TRY(const auto builds, storage::BuildStore(database).list());
  const bool has_nightly = std::ranges::any_of(
      builds, [](const auto& row) { return row.origin == storage::BuildOrigin::nightly; });
  if (newest.empty() && has_nightly) {
    return fail(ErrorCode::unavailable, "no nightly of the channel can be used",
                "`torchwatch build list` says why");
  }
  if (invocation.json) {
    print_list(invocation, nlohmann::json::array());
    return ExitStatus::done;
  }
  TW_TRY(const auto nightly, report::newest_nightly(database));
  auto why = without_verdict(nightly.known, builds);
  if (newest.empty()) {
    why = "the channel, [channel] in " + invocation.config_file.string() + ", has no nightly yet.";
  } else if (why.empty()) {
    why = "every nightly has its verdict; see `torchwatch status`.";
  }
  invocation.out << terminal::wrapped("Nothing is due: " + why, invocation.screen.columns);
  return ExitStatus::done;
}

nlohmann::json request_of(const NightlyOptions& options, const comparison::Selection& selection) {
  if (options.candidate.empty()) return nlohmann::json::object();
  auto request = comparison::to_json(selection);
  request["candidate"] = commands::build_for_daemon(options.candidate);
  request["baseline"] = commands::build_for_daemon(options.baseline);
  return request;
}

Outcome compare_here(const Invocation& invocation, commands::SessionOfCommand& opened,
                     const NightlyOptions& options) {
  auto& services = opened.services();
  TW_TRY_VOID(commands::wait_for_machine(opened, invocation.stop));
  TW_TRY(auto comparisons, due_comparisons(opened, options, invocation.stop));
  TW_TRY(auto outbox, daemon::Outbox::open(*opened.application));
  const auto deliver = [&]() -> Status {
    TW_TRY_VOID(outbox.deliver(invocation.stop));
    return {};
  };
  TW_TRY(comparisons,
         nightly::carry_out_comparisons(services, comparisons, deliver, invocation.stop));
  TW_TRY_VOID(deliver());
  std::erase_if(comparisons, is_with_itself);
  if (comparisons.empty()) return show_nothing_due(invocation, services.database);
  return show(invocation, services, comparisons, options.all);
}

/// The database of a daemon that has nothing to do, to which there is nothing to hand over; null if
/// none runs, or something is due.
Result<std::unique_ptr<storage::Database>> database_of_idle_daemon(const config::Config& config) {
  TW_TRY(const auto daemon, control::ControlClient::find(config));
  if (!daemon) return nullptr;
  TW_TRY(auto database, daemon::open_reader(config));
  TW_TRY(const bool is_due, requests::is_anything_due(config, *database));
  if (is_due) return nullptr;
  return database;
}

/// A channel's folder that is gone is found before a database is made for nothing. Errors:
/// unavailable.
Status require_channel(const config::Config& config) {
  std::error_code error;
  const auto& path = config.channel.path;
  const bool is_folder = config.channel.kind == config::ChannelKind::directory;
  if (!is_folder || std::filesystem::is_directory(path, error)) return {};
  return fail(ErrorCode::unavailable,
              "[channel] path " + path.string() + ": there is no such folder",
              "it must be one with one build in each folder");
}

Outcome run_nightly(const Invocation& invocation, const NightlyOptions& options) {
  if (options.candidate.empty() != options.baseline.empty()) {
    return fail(ErrorCode::invalid, "--baseline and --candidate must be given together");
  }
  TW_TRY(const auto selection, options.suite.selection());
  if (options.candidate.empty() && selection != comparison::Selection{}) {
    return fail(ErrorCode::invalid,
                "what of the suite is compared can be said with --baseline and --candidate; every "
                "nightly that is due is compared in what [suite] names");
  }
  TW_TRY(const auto config, invocation.load_config_to_measure());
  if (options.candidate.empty()) {
    TW_TRY_VOID(require_channel(config));
    TW_TRY(const auto idle, database_of_idle_daemon(config));
    if (idle) return show_nothing_due(invocation, *idle);
  }
  return commands::carry_out(
      invocation, config,
      {.path = "/api/v1/nightlies",
       .body = request_of(options, selection),
       .without_daemon = [&](auto& opened) { return compare_here(invocation, opened, options); }});
}

}  // namespace

void add_nightly(Commands& all) {
  auto options = std::make_shared<NightlyOptions>();
  auto& command = all.add(
      "nightly", "Carry out every comparison that is due now: measure, judge, bisect, report",
      [options](const Invocation& invocation) { return run_nightly(invocation, *options); });
  command.add_option(
      "--baseline", options->baseline,
      "Compare with this BUILD (folder, name in the channel, release); needs --candidate");
  command.add_option("--candidate", options->candidate,
                     "Compare this BUILD, whatever is due; needs --baseline");
  command.add_flag("--all", options->all, "Print the unchanged series, too");
  const auto own = static_cast<std::ptrdiff_t>(command.get_options().size());
  options->suite.add_to(command);
  options->suite.add_metric_to(command);
  for (auto* option : command.get_options() | std::views::drop(own)) {
    option->description(option->get_description() + "; needs --baseline and --candidate");
  }
  all.add_format(command);
  commands::add_events(command);
  command.footer("torchwatch nightly --baseline 2026-08-16 --candidate 2026-08-17");
}

}  // namespace torchwatch::cli
