#include <functional>
#include <iterator>
#include <optional>

#include "conversing.hpp"
#include "database_upkeep.hpp"
#include "housekeeping.hpp"
#include "torchwatch/assets/assets.hpp"
#include "torchwatch/bisection/searched_range.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/builds/kept_log.hpp"
#include "torchwatch/caches/build_files.hpp"
#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/config/addresses.hpp"
#include "torchwatch/daemon/daemon.hpp"
#include "torchwatch/daemon/page_sources.hpp"
#include "torchwatch/evidence/noise.hpp"
#include "torchwatch/forms/forms.hpp"
#include "torchwatch/history/commit_counts.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/kits/suite.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/notify/feed.hpp"
#include "torchwatch/pages/pages.hpp"
#include "torchwatch/platform/core_affinity.hpp"
#include "torchwatch/platform/process_limits.hpp"
#include "torchwatch/report/printed_output.hpp"
#include "torchwatch/report/trunk_range.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/requests/check.hpp"
#include "torchwatch/site/view.hpp"
#include "torchwatch/traces/traces.hpp"
#include "torchwatch/triage/decisions.hpp"
#include "torchwatch/triage/incident_facts.hpp"
#include "torchwatch/triage/triage.hpp"
#include "torchwatch/webhooks/routes.hpp"

// What a daemon serves over HTTP, and what the API needs from it.

namespace torchwatch::daemon {
namespace {

http::ServerSettings server_settings(const config::Config& config) {
  http::ServerSettings settings;
  settings.address = config.web.address;
  settings.port = config.web.port;
  settings.hosts = config.web.hosts;
  settings.local_may_read = config.web.anonymous_read != config::AnonymousRead::never;
  settings.others_may_read = config.web.anonymous_read == config::AnonymousRead::always;
  settings.cors_origins = config.web.cors_origins;
  settings.trusted_proxies = config.web.trusted_proxies;
  settings.requests_per_second = config.web.requests_per_second;
  settings.socket = config::control_socket(config);
  settings.body_bytes_max = static_cast<std::size_t>(config.web.body_limit_bytes);
  settings.head_time_limit = config.web.head_time_limit;
  settings.body_time_limit = config.web.body_time_limit;
  return settings;
}

/// Leaves room for what else is open: connections, the database, children, files that are read.
constexpr std::uint64_t kOtherFiles = 512;

events::FeedLimits feed_limits(const log::Logger& logger) {
  events::FeedLimits limits;
  const auto wanted = static_cast<std::uint64_t>(limits.clients_max) + kOtherFiles;
  const auto files = platform::raise_open_files(wanted);
  if (files >= wanted) return limits;
  limits.clients_max = static_cast<int>(files / 2);
  logger.warning("at most " + std::to_string(limits.clients_max) +
                 " clients can follow the events: this process may have " + std::to_string(files) +
                 " files open, not " + std::to_string(wanted) + " (ulimit -n)");
  return limits;
}

/// For strangers: why there is no sandbox is for the log and `torchwatch check`.
std::vector<std::string> warnings_of(const Application& application) {
  if (application.sandbox().kind() != sandbox::Kind::none) return {};
  return {"foreign code runs without a sandbox; `torchwatch check` says why"};
}

/// Nothing where the disk cannot be asked.
std::optional<std::int64_t> free_bytes(const std::filesystem::path& folder) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error) return std::nullopt;
  return static_cast<std::int64_t>(space.available);
}

Status check_request(Application& application, storage::RequestKind kind,
                     const nlohmann::json& body, bool is_local) {
  auto& services = application.services();
  if (pulls::is_pull_spec(body)) {
    const bool is_confined = application.sandbox().kind() != sandbox::Kind::none;
    TW_TRY_VOID(pulls::check(application.config(), is_confined, body));
  }
  TW_TRY(auto workloads, services.runners.workloads());
  return requests::check(
      {.config = application.config(),
       .database = &services.database,
       .workloads = std::move(workloads),
       .has_gpu = requests::has_gpu()},
      kind, body,
      is_local ? requests::Asking::from_this_machine : requests::Asking::from_elsewhere);
}

/// What lists the workloads of the suite, with what kits have counted of them.
std::function<Result<nlohmann::json>()> suite_of(const config::Config& config) {
  return [config, sources = source_folder(config),
          folder = config.build.cache / "kits"]() -> Result<nlohmann::json> {
    TW_TRY(auto suite, kits::read_suite(sources));
    kits::add_counted(suite, kits::counted_by_kits(folder));
    comparison::add_externals(suite, config);
    return suite;
  };
}

/// What pages and the API say of noise. Both must outlive it.
std::function<Result<std::optional<evidence::Noise>>(const Series&)> noise_of(
    const config::Config& config, storage::Database& database) {
  return [&](const Series& series) -> Result<std::optional<evidence::Noise>> {
    TW_TRY(const auto settings, nightly::settings_of_next(config, database, series));
    return evidence::read_noise(database, series, settings);
  };
}

Status decide_incident(comparison::Services& services, storage::Id id, storage::DecisionKind kind,
                       const storage::Decision& decision) {
  return triage::decide_incident(services, id, kind, decision);
}

/// What pages and the API show of the files of builds. Both must outlive it.
report::AskForFiles files_of(const config::Config& config, caches::FolderSizes& sizes) {
  return [&](const storage::BuildRow& build) {
    auto files = caches::files_of(build, config);
    if (files.are_there) files.bytes = sizes.of(build.folder);
    return files;
  };
}

/// The end of what the recipe printed for a commit.
std::vector<std::string> build_log_of(const config::Config& config, const std::string& sha) {
  const auto log = builds::kept_log(config.build.cache / "commits", sha);
  return report::last_lines(log, triage::secrets_of(config));
}

}  // namespace

report::CountCommits commit_counter(const config::Config& config) {
  return [counts = std::make_shared<bisect::CommitCounts>(repository_folder(config))](
             const std::string& from, const std::string& to) { return counts->between(from, to); };
}

pages::Sources page_sources(const config::Config& config, storage::Database& database,
                            const platform::Clock& clock, report::CountCommits count_commits) {
  const auto commit_of = [repository = repository_folder(config)](const std::string& sha) {
    // A handle belongs to one thread; opening one costs microseconds.
    const auto history = bisect::CommitHistory::open(repository);
    return triage::commit_facts(history ? &*history : nullptr, sha);
  };
  const auto ranges = std::make_shared<bisection::SearchedRanges>(repository_folder(config));
  return {.database = database,
          .clock = clock,
          .commit_of = commit_of,
          .build_log_of = [config](const auto& sha) { return build_log_of(config, sha); },
          .count_commits = std::move(count_commits),
          .replay_of = [&database](auto& row) { return bisection::replay_of(database, row); },
          .range_of = [ranges](const auto& row) { return ranges->of(row); },
          .suite = suite_of(config),
          .noise_of = noise_of(config, database),
          .commits_address = config::commits_address(config),
          .issues_address = config::issues_address(config),
          .traces = traces::folder_beside(config.storage.path),
          .perfetto = config.web.perfetto,
          .confidence = config.detect.confidence,
          .threshold = 1 + config.detect.threshold,
          .exact_threshold = 1 + config.detect.exact_threshold,
          .threshold_of = config::threshold_ratios(config),
          .gate = 1 + config.detect.gate,
          .false_incidents_per_year = config.detect.false_incidents_per_year,
          .no_nightly_alarm = config.alarm.no_nightly,
          .cache_limit_bytes = config.build.cache_limit_bytes};
}

Status Daemon::start_server() {
  auto settings = server_settings(application_.config());
  settings.note = [this](const std::string& problem) { note("web", problem); };
  auto& services = application_.services();
  TW_TRY(tokens_,
         signin::AcceptedTokens::open(services.database, services.clock, application_.log(),
                                      application_.config().web.token_file));
  settings.tokens = {
      .find = [this](const std::string& sha256) { return tokens_->find(sha256); },
      .used = [this](const http::Identity& identity) { tokens_->note_use(identity); },
      .find_signed_in = [this](const auto& request) { return sign_ins_->find(request); }};
  TW_TRY(sign_ins_,
         signin::SignIns::open({.database = services.database,
                                .clock = services.clock,
                                .random = services.random,
                                .find_token = settings.tokens.find,
                                .public_address = application_.config().web.public_address}));
  settings.page_of = pages::problem_page;
  // Requests must not disturb what is measured.
  const platform::OffMeasuredCore server_threads;
  folder_sizes_ = std::make_unique<caches::FolderSizes>();
  TW_TRY(signed_tokens_,
         oidc::SignedTokens::open(application_.config(), services.clock,
                                  application_.log().logger("oidc"),
                                  [this](const std::string& problem) { note("oidc", problem); }));
  signed_tokens_->add_to(settings.tokens);
  const auto logger = application_.log().logger("events");
  TW_TRY(feed_, events::Feed::start(services.database, logger, feed_limits(logger)));
  conversing_ = converse(
      application_,
      {.check = [this](auto kind,
                       const auto& body) { return check_request(application_, kind, body, false); },
       .work_arrived = [this] { sleeper_.wake(); },
       .note = [this](const auto& problem) { note("conversation", problem); }});
  TW_TRY(auto routes, make_routes());
  TW_TRY(server_, http::Server::start(std::move(settings), std::move(routes), services.clock,
                                      application_.log().logger("http")));
  if (application_.config().file.empty()) {
    logger_.warning("there is no torchwatch.toml here, so the defaults are used");
  }
  logger_.info("listening on http://" + application_.config().web.address + ":" +
               std::to_string(server_->port()) + " and on " +
               config::control_socket(application_.config()).string());
  return {};
}

Result<std::vector<http::Route>> Daemon::make_routes() {
  auto& services = application_.services();
  TW_TRY(auto intake, webhook_intake(application_, [this] {
           if (conversing_) conversing_->correspondent->wake();
         }));
  auto routes = api::routes(backend(services.database), backend(*reader_));
  std::ranges::move(webhooks::routes(std::move(intake)), std::back_inserter(routes));
  auto shown = page_sources(application_.config(), *reader_, services.clock, count_commits_);
  shown.api = routes;
  shown.service_now = [this] { return service_now(); };
  shown.files_of = files_of(application_.config(), *folder_sizes_);
  const auto& assets = application_.config().web.assets;
  shown.assets = assets::folder(assets);
  shown.take_note = [this](const auto& request) { return sign_ins_->take_note(request); };
  auto forms = forms::routes(
      {.sources = shown, .sign_ins = *sign_ins_, .logger = application_.log().logger("web")});
  std::ranges::move(forms, std::back_inserter(routes));
  std::ranges::move(pages::routes(std::move(shown)), std::back_inserter(routes));
  routes.push_back(notify::feed_route(
      {.database = *reader_, .public_address = application_.config().web.public_address}));
  std::ranges::move(assets::routes(assets), std::back_inserter(routes));
  return routes;
}

health::Report Daemon::service_now() const {
  return {.problems = health_.problems(),
          .warnings = warnings_of(application_),
          .doing = application_.activity().now(),
          .version = std::string(report::program_version()),
          .free_cache_bytes = free_bytes(application_.config().build.cache)};
}

api::Backend Daemon::backend(storage::Database& database) {
  auto& services = application_.services();
  return {
      .database = database,
      .clock = services.clock,
      .random = services.random,
      .request_arrived = [this] { sleeper_.wake(); },
      .service_now = [this] { return service_now(); },
      .decide_incident = std::bind_front(decide_incident, std::ref(services)),
      .tokens_changed =
          [this](const auto& revoked) {
            auto reloaded = tokens_->reload();
            if (!revoked.empty()) feed_->close_streams_of(revoked);
            return reloaded;
          },
      .dispute_incident = [&services](auto id, const auto& decision) -> Result<storage::Id> {
        TW_TRY(const auto row, triage::dispute_incident(services, id, decision));
        return row.id;
      },
      .retest_incident = [&services](auto id) -> Result<std::pair<storage::Id, bool>> {
        TW_TRY(const auto retest, triage::retest_incident(services, id));
        return std::pair{retest.comparison.id, retest.is_new};
      },
      .cancel_comparison = std::bind_front(triage::cancel_comparison, std::ref(services)),
      .cancel_bisection = std::bind_front(triage::cancel_bisection, std::ref(services)),
      .cancel_request = std::bind_front(pulls::cancel_request, std::ref(services)),
      .replay_of = [&database](const auto& row) { return bisection::replay_of(database, row); },
      .check_request = std::bind_front(check_request, std::ref(application_)),
      .suite = suite_of(application_.config()),
      .count_commits = count_commits_,
      .tidy_caches =
          [this] {
            housekeeping_->ask_to_tidy();
            sleeper_.wake();
          },
      .pin_build = [this](const auto& build,
                          bool keep) { return caches::pin(build, application_.config(), keep); },
      .remove_build_files =
          [this](const auto& build) {
            return caches::remove_files(application_.services().database, application_.config(),
                                        build);
          },
      .back_up_database = [this] { return upkeep_->back_up(); },
      .check_database = [this] { return upkeep_->check(); },
      .feed = feed_.get(),
      .issues_address = config::issues_address(application_.config()),
      .files_of = files_of(application_.config(), *folder_sizes_),
      .noise_of = noise_of(application_.config(), database),
      .past_of = [pasts = std::make_shared<evidence::Pasts>(database)](
                     const auto& series) { return pasts->of(series); }};
}

}  // namespace torchwatch::daemon
