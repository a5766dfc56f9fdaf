#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "commands.hpp"
#include "torchwatch/cluster/look.hpp"
#include "torchwatch/cluster/slurm_executor.hpp"
#include "torchwatch/commands/comparison_output.hpp"
#include "torchwatch/commands/links.hpp"
#include "torchwatch/control/service_now.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/daemon/cluster_settings.hpp"
#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/culprit_tally.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/self_test_figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/drills.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/setback_store.hpp"
#include "torchwatch/terminal/status_text.hpp"
#include "torchwatch/terminal/watch.hpp"

namespace torchwatch::cli {
namespace {

using nlohmann::json;
using terminal::StatusFacts;

constexpr int kComparisonsShown = 10;

std::optional<storage::Id> at_work_of(const StatusFacts& facts) {
  return facts.service.report.doing.comparison;
}

Status add_comparisons(storage::Database& database, const config::Config& config,
                       const bisect::CommitHistory* history, StatusFacts& facts) {
  storage::ComparisonStore comparisons(database);
  storage::BuildStore builds(database);
  TW_TRY(const auto rows, comparisons.list(kComparisonsShown));
  for (const auto& row : rows) {
    terminal::NamedComparison named{.row = row};
    TW_TRY(const auto candidate, builds.get(row.candidate));
    named.candidate = candidate.name;
    if (row.baseline) {
      TW_TRY(const auto baseline, builds.get(*row.baseline));
      named.baseline = baseline.name;
    }
    TW_TRY(const auto incidents, storage::IncidentStore(database).of_comparison(row.id));
    named.incidents = incidents.size();
    TW_TRY(named.result, report::result_word(database, row, at_work_of(facts)));
    facts.recent.push_back(std::move(named));
  }
  TW_TRY(const auto newest, report::newest_nightly(database));
  if (!newest.known) return {};
  TW_TRY(facts.newest, commands::gather(database, config, history, *newest.known));
  TW_TRY(facts.newest->stage, report::result_word(database, *newest.known, at_work_of(facts)));
  if (!newest.judged || newest.judged->id == newest.known->id) return {};
  TW_TRY(facts.judged, commands::gather(database, config, history, *newest.judged));
  return {};
}

/// Counts what has not ended, is not worked on and was not put off.
Status add_queue(storage::Database& database, StatusFacts& facts) {
  const auto is_put_off = [&](storage::ItemKind kind, storage::Id id) {
    const storage::ItemKey key{kind, std::to_string(id)};
    return std::ranges::find(facts.waiting, key, &storage::SetbackRow::key) != facts.waiting.end();
  };
  TW_TRY(const auto comparisons, storage::ComparisonStore(database).unfinished());
  for (const auto& row : comparisons) {
    if (at_work_of(facts) == row.id) continue;
    if (!is_put_off(storage::ItemKind::comparison, row.id)) ++facts.queue.comparisons;
  }
  TW_TRY(const auto requests,
         storage::RequestStore(database).with_state(storage::RequestState::pending));
  for (const auto& row : requests) {
    if (!is_put_off(storage::ItemKind::request, row.id)) ++facts.queue.requests;
  }
  return {};
}

Status add_incidents(storage::Database& database, const bisect::CommitHistory* history,
                     StatusFacts& facts) {
  TW_TRY(facts.newest_issue, storage::newest_issue(database));
  TW_TRY(const auto open, storage::IncidentStore(database).unclosed());
  for (const auto& incident : open) {
    TW_TRY(auto found, commands::gather(database, history, incident));
    facts.open.push_back(std::move(found));
  }
  TW_TRY(facts.unsent, storage::OutboxStore(database).unsent());
  TW_TRY(const auto times, storage::AlarmStore(database).times());
  facts.last_delivery = times.last_delivery;
  return {};
}

/// What people call the job whose name ends so: a lane, or "build-1234..." of a commit.
std::string what_of(const std::string& name) {
  if (auto lane = cluster::lane_text(name); !lane.empty()) return lane;
  constexpr std::string_view kBuild = "build-";
  constexpr std::size_t kShaDigits = 8;
  if (name.starts_with(kBuild)) return "build " + name.substr(kBuild.size(), kShaDigits);
  return name;
}

std::optional<terminal::ClusterNow> cluster_now(const config::Config& config) {
  if (config.executor.kind != config::ExecutorKind::slurm) return std::nullopt;
  const auto processes = process::make_process_runner("status " + config.storage.path.string());
  const auto jobs = cluster::jobs_of_service(*processes, daemon::job_prefix(config));
  terminal::ClusterNow now;
  if (!jobs) now.problem = jobs.error().text();
  if (!jobs) return now;
  for (const auto& [name, job] : *jobs) {
    now.jobs.push_back({.what = what_of(name),
                        .id = job.id,
                        .state = job.word,
                        .node = job.node,
                        .reason = job.reason});
  }
  return now;
}

Result<StatusFacts> gather_status(storage::Database& database, const config::Config& config) {
  StatusFacts facts;
  facts.now = platform::SystemClock().wall_now();
  const auto history = commands::history_of(config);
  const auto* commits = history ? &*history : nullptr;
  TW_TRY(facts.service, control::service_now(database, config));
  TW_TRY_VOID(add_comparisons(database, config, commits, facts));
  TW_TRY_VOID(add_incidents(database, commits, facts));
  TW_TRY(facts.searches, storage::BisectionStore(database).unfinished());
  TW_TRY(facts.waiting, storage::SetbackStore(database).list());
  TW_TRY_VOID(add_queue(database, facts));
  facts.cluster = cluster_now(config);
  TW_TRY(facts.left_out, report::left_out_nightlies(database));
  TW_TRY(facts.culprits, report::culprit_tally(database));
  TW_TRY(facts.self_tests, storage::ComparisonStore(database).self_tests());
  TW_TRY(facts.drills, storage::drills(database));
  return facts;
}

json waiting_json(const std::vector<storage::SetbackRow>& setbacks) {
  auto array = json::array();
  for (const auto& setback : setbacks) {
    array.push_back({{"kind", to_string(setback.key.kind)},
                     {"item", setback.key.item},
                     {"tries", setback.tries},
                     {"since", report::time_of(setback.since)},
                     {"not_before", report::time_of(setback.not_before)},
                     {"error", setback.error}});
  }
  return array;
}

Result<json> comparisons_json(storage::Database& database, const StatusFacts& facts) {
  auto array = json::array();
  for (const auto& named : facts.recent) {
    TW_TRY(auto item, report::json_of(database, named.row, at_work_of(facts)));
    item["incident_count"] = named.incidents;
    array.push_back(std::move(item));
  }
  return array;
}

json outbox_json(const StatusFacts& facts) {
  const auto& unsent = facts.unsent;
  const auto dead =
      std::ranges::count(unsent, storage::OutboxState::dead, &storage::OutboxRow::state);
  std::string last_error;
  for (const auto& message : unsent) {
    if (!message.last_error.empty()) last_error = message.last_error;
  }
  return {{"waiting", static_cast<std::ptrdiff_t>(unsent.size()) - dead},
          {"dead", dead},
          {"last_error", report::text_or_null(last_error)},
          {"last_delivery_at",
           facts.last_delivery ? report::time_of(*facts.last_delivery) : json(nullptr)}};
}

json cluster_json(const std::optional<terminal::ClusterNow>& cluster) {
  if (!cluster) return nullptr;
  auto jobs = json::array();
  for (const auto& job : cluster->jobs) {
    jobs.push_back({{"what", job.what},
                    {"job", job.id},
                    {"state", job.state},
                    {"node", report::text_or_null(job.node)},
                    {"reason", report::text_or_null(job.reason)}});
  }
  return {{"jobs", jobs}, {"problem", report::text_or_null(cluster->problem)}};
}

json daemon_json(const terminal::ServiceNow& service) {
  const auto& last = service.last;
  const auto stopped_at = last && last->stopped_at ? report::time_of(*last->stopped_at) : json();
  auto object = health::to_json(service.report, true);
  const auto doing = object.contains("doing") ? object["doing"] : json();
  return {{"process", service.daemon ? json(*service.daemon) : json()},
          {"writer", service.writer ? json(*service.writer) : json()},
          {"not_asked", report::text_or_null(service.not_asked)},
          {"stopped_at", stopped_at},
          {"doing", doing}};
}

json rejected_json(const StatusFacts& facts) {
  auto array = json::array();
  for (const auto& row : facts.left_out) {
    array.push_back({{"name", row.name}, {"reason", report::reason_of(row)}});
  }
  return array;
}

Result<json> to_json(storage::Database& database, const StatusFacts& facts) {
  TW_TRY(const auto comparisons, comparisons_json(database, facts));
  auto open = json::array();
  for (const auto& incident : facts.open) {
    auto item = report::json_of(incident.row);
    item["culprit"] = report::text_or_null(incident.culprit);
    open.push_back(std::move(item));
  }
  auto searches = json::array();
  for (const auto& search : facts.searches) searches.push_back(report::json_of(search));
  return json{
      {"schema", 1},
      {"daemon", daemon_json(facts.service)},
      {"problems", health::to_json(facts.service.report.problems, true)},
      {"queue", {{"comparisons", facts.queue.comparisons}, {"requests", facts.queue.requests}}},
      {"cluster", cluster_json(facts.cluster)},
      {"rejected_builds", rejected_json(facts)},
      {"newest_nightly", facts.newest ? json(facts.newest->candidate.name) : json(nullptr)},
      {"newest_nightly_at",
       facts.newest ? report::time_of(facts.newest->comparison.created_at) : json(nullptr)},
      {"open_incidents", open},
      {"bisections", searches},
      {"outbox", outbox_json(facts)},
      {"comparisons", comparisons},
      {"waiting", waiting_json(facts.waiting)},
      {"self_tests", report::json_of(facts.self_tests)},
      {"drills", report::json_of(facts.drills)},
      {"culprit_tally", report::json_of(facts.culprits)}};
}

/// What scripts ask: 3 while something does not work, else 1 while an incident is open.
ExitStatus exit_status_of(const StatusFacts& facts) {
  if (terminal::is_impaired(facts)) return ExitStatus::environment;
  return facts.open.empty() ? ExitStatus::done : ExitStatus::regression;
}

struct StatusOptions {
  bool with_exit_status = false;
  bool is_watched = false;
};

Result<StatusFacts> look(const config::Config& config) {
  TW_TRY(const auto database, daemon::open_reader(config));
  return gather_status(*database, config);
}

Outcome watch_status(const Invocation& invocation, const StatusOptions& options) {
  if (invocation.json) {
    return fail(ErrorCode::invalid, "--watch shows text: leave out --json");
  }
  TW_TRY(const auto config, invocation.load_config());
  auto status = ExitStatus::done;
  const auto look_again = [&]() -> Result<terminal::Sight> {
    TW_TRY(const auto facts, look(config));
    if (options.with_exit_status) status = exit_status_of(facts);
    std::ostringstream text;
    terminal::print(text, facts, invocation.screen);
    return terminal::Sight{.text = text.str(), .line = terminal::brief(facts)};
  };
  TW_TRY_VOID(terminal::watch(invocation.out, invocation.screen, platform::SystemClock(),
                              look_again, invocation.stop));
  return status;
}

Outcome run_status(const Invocation& invocation, const StatusOptions& options) {
  if (options.is_watched) return watch_status(invocation, options);
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, daemon::open_reader(config));
  TW_TRY(const auto facts, gather_status(*database, config));
  if (invocation.json) {
    TW_TRY(const auto object, to_json(*database, facts));
    commands::print_json(invocation, object);
  } else {
    commands::print_linked(invocation,
                           [&](auto& out) { terminal::print(out, facts, invocation.screen); });
  }
  return options.with_exit_status ? exit_status_of(facts) : ExitStatus::done;
}

}  // namespace

void add_status(Commands& all) {
  auto options = std::make_shared<StatusOptions>();
  auto& command =
      all.add("status", "What is wrong, what is under way, and how often the service was wrong",
              [options](const auto& invocation) { return run_status(invocation, *options); });
  command.add_flag("--exit-status", options->with_exit_status,
                   "End with 3 while something does not work, else with 1 while an incident is "
                   "open; without it the status is 0");
  command.add_flag("--watch", options->is_watched,
                   "Show it until Ctrl-C, anew whenever it changes; a line for each change where "
                   "the output is not a terminal");
  command.footer("torchwatch status --json");
}

}  // namespace torchwatch::cli
