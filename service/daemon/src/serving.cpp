#include <functional>
#include <iterator>

#include "database_upkeep.hpp"
#include "housekeeping.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/caches/build_files.hpp"
#include "torchwatch/config/addresses.hpp"
#include "torchwatch/daemon/daemon.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/kits/suite.hpp"
#include "torchwatch/nightly/decisions.hpp"
#include "torchwatch/nightly/triage.hpp"
#include "torchwatch/pages/pages.hpp"
#include "torchwatch/platform/core_affinity.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/requests/check.hpp"

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
  TW_TRY(auto workloads, services.runners.workloads());
  return requests::check(
      {.config = application.config(),
       .database = &services.database,
       .workloads = std::move(workloads),
       .has_gpu = requests::has_gpu()},
      kind, body,
      is_local ? requests::Asking::from_this_machine : requests::Asking::from_elsewhere);
}

pages::Sources page_sources(Application& application, const std::vector<http::Route>& api) {
  const auto& config = application.config();
  auto& services = application.services();
  const auto subject_of = [repository = repository_folder(config)](const std::string& sha) {
    // A handle belongs to one thread; opening one costs microseconds.
    const auto history = bisect::CommitHistory::open(repository);
    const auto commit = history ? history->commit(sha) : fail(history.error());
    return commit ? commit->subject : std::string();
  };
  return {
      .database = services.database,
      .clock = services.clock,
      .subject_of = subject_of,
      .steps_of = [&services](auto& row) { return bisection::trace_of(services.database, row); },
      .commits_address = config::commits_address(config),
      .issues_address = config::issues_address(config),
      .confidence = config.detect.confidence,
      .threshold = 1 + config.detect.threshold,
      .api = api};
}

}  // namespace

Status Daemon::start_server() {
  auto settings = server_settings(application_.config());
  settings.note = [this](const std::string& problem) { note("web", problem); };
  auto& services = application_.services();
  TW_TRY(tokens_, api::AcceptedTokens::open(services.database, services.clock, application_.log(),
                                            application_.config().web.token_file));
  settings.tokens = {
      .find = [this](const std::string& sha256) { return tokens_->find(sha256); },
      .used = [this](const http::Identity& identity) { tokens_->note_use(identity); }};
  // Requests must not disturb what is measured.
  const platform::OffMeasuredCore server_threads;
  TW_TRY(feed_, events::Feed::start(services.database, application_.log().logger("events")));
  auto routes = api::routes(backend());
  auto shown = page_sources(application_, routes);
  shown.service_now = [this] { return service_now(); };
  std::ranges::move(pages::routes(std::move(shown)), std::back_inserter(routes));
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

health::Report Daemon::service_now() const {
  return {.problems = health_.problems(),
          .warnings = warnings_of(application_),
          .doing = application_.activity().now(),
          .version = std::string(report::program_version()),
          .free_cache_bytes = free_bytes(application_.config().build.cache)};
}

api::Backend Daemon::backend() {
  auto& services = application_.services();
  return {
      .database = services.database,
      .clock = services.clock,
      .random = services.random,
      .request_arrived = [this] { sleeper_.wake(); },
      .service_now = [this] { return service_now(); },
      .decide_incident = std::bind_front(nightly::decide_incident, std::ref(services)),
      .tokens_changed =
          [this](const auto& revoked) {
            auto reloaded = tokens_->reload();
            if (!revoked.empty()) feed_->close_streams_of(revoked);
            return reloaded;
          },
      .dispute_incident = [&services](auto id, const auto& decision) -> Result<storage::Id> {
        TW_TRY(const auto row, nightly::dispute_incident(services, id, decision));
        return row.id;
      },
      .retest_incident = [&services](auto id) -> Result<std::pair<storage::Id, bool>> {
        TW_TRY(const auto retest, nightly::retest_incident(services, id));
        return std::pair{retest.comparison.id, retest.is_new};
      },
      .cancel_comparison = std::bind_front(nightly::cancel_comparison, std::ref(services)),
      .cancel_bisection = std::bind_front(nightly::cancel_bisection, std::ref(services)),
      .trace_of = [&](const auto& row) { return bisection::trace_of(services.database, row); },
      .check_request = std::bind_front(check_request, std::ref(application_)),
      .suite = [this]() -> Result<nlohmann::json> {
        const auto& config = application_.config();
        TW_TRY(auto suite, kits::read_suite(source_folder(config)));
        kits::add_counted(suite, kits::counted_by_kits(config.build.cache / "kits"));
        return suite;
      },
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
      .issues_address = config::issues_address(application_.config())};
}

}  // namespace torchwatch::daemon
