#include "torchwatch/daemon/daemon.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "housekeeping.hpp"
#include "requests.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/config/addresses.hpp"
#include "torchwatch/health/alarms.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/kits/suite.hpp"
#include "torchwatch/nightly/decisions.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/triage.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/pages/pages.hpp"
#include "torchwatch/platform/core_affinity.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/requests/check.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/daemon_store.hpp"

namespace torchwatch::daemon {
namespace {

/// How long to wait at most before the next look at what was put off.
constexpr std::chrono::seconds kLookAgainAfter{60};

struct UnlockedAtEnd {
  Application& application;
  ~UnlockedAtEnd() { application.unlock_machine(); }
};

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
  return error ? std::nullopt : std::optional(static_cast<std::int64_t>(space.available));
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

/// When a daemon began and stopped is said by `torchwatch status`; it is not a reason not to work.
void note_run(Application& application, bool is_start) {
  storage::DaemonStore store(application.services().database);
  const auto now = application.services().clock.wall_now();
  const auto noted = is_start ? store.note_start(now) : store.note_stop(now);
  if (noted) return;
  application.log().logger("daemon").warning("start and stop cannot be noted: " +
                                             noted.error().text());
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

Status look_for_missing_data(Application& application, storage::WallMillis started) {
  auto& services = application.services();
  return health::update_alarms({.database = services.database,
                                .clock = services.clock,
                                .random = services.random,
                                .config = application.config()},
                               started);
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::start(Application& application) {
  TW_TRY_VOID(reopen_requests(application));
  TW_TRY_VOID(nightly::note_downfall_of(application.services(), application.left_work()));
  TW_TRY(auto outbox, Outbox::open(application));
  std::unique_ptr<Daemon> daemon(new Daemon(application, std::move(outbox)));
  note_run(application, true);
  const auto serves = daemon->start_server();
  if (serves) return daemon;
  note_run(application, false);
  return fail(serves.error());
}

Daemon::Daemon(Application& application, Outbox outbox)
    : application_(application),
      outbox_(std::move(outbox)),
      logger_(application.log().logger("daemon")),
      started_(application.services().clock.wall_now()),
      health_(application.services().database, application.services().clock),
      housekeeping_(std::make_unique<Housekeeping>(
          application,
          [this](const auto& source, const auto& problem) { note(source, problem); })) {}

Daemon::~Daemon() = default;

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
  return {.database = services.database,
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
          .feed = feed_.get(),
          .issues_address = config::issues_address(application_.config())};
}

/// An exception is a fault of ours. It costs one round, not the service.
Result<bool> Daemon::work_guarded(std::stop_token stop) {
  try {
    auto worked = work_once(std::move(stop));
    note("service", "");
    return worked;
  } catch (const std::exception& exception) {
    note("service", std::string("internal error: ") + exception.what());
    return false;
  }
}

Status Daemon::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const auto worked = work_guarded(stop);
    const auto consequence =
        worked ? nightly::Consequence::waits : nightly::consequence_of(worked.error().code);
    if (!worked && consequence == nightly::Consequence::stops) {
      if (worked.error().code == ErrorCode::cancelled) break;
      return fail(worked.error());
    }
    // What is about an item ends with the item; an error that gets here is the database's.
    note("storage", worked ? "" : worked.error().text());
    if (worked && *worked) continue;
    const auto limit = std::min(application_.config().channel.poll, kLookAgainAfter);
    if (sleeper_.sleep(limit, stop)) next_look_ = std::chrono::nanoseconds{0};
  }
  server_->stop();
  feed_->end();
  note_run(application_, false);
  logger_.info("stopped");
  return {};
}

Result<bool> Daemon::work_once(std::stop_token stop) {
  auto& services = application_.services();
  TW_TRY_VOID(services.database.check_files());
  TW_TRY_VOID(note_unless_it_stops("alarms", look_for_missing_data(application_, started_)));
  TW_TRY_VOID(deliver(stop));
  TW_TRY_VOID(answer_triggers(application_));
  TW_TRY_VOID(look_for_nightlies(stop));
  TW_TRY(const bool is_busy, attend_next(stop));
  application_.activity().clear();
  if (is_busy) return true;
  TW_TRY_VOID(keep_house(stop));
  TW_TRY_VOID(deliver(stop));
  return false;
}

Status Daemon::keep_house(std::stop_token stop) {
  // Whoever measures uses what lies in the caches. Afterwards a person may measure.
  const UnlockedAtEnd unlocked{application_};
  const auto kept =
      application_.lock_machine() ? housekeeping_->look_after(std::move(stop)) : Status{};
  return note_unless_it_stops("housekeeping", kept);
}

/// What goes wrong beside the items is a problem of its own and keeps no item from being done.
Status Daemon::note_unless_it_stops(const std::string& source, const Status& done) {
  const bool stops =
      !done && nightly::consequence_of(done.error().code) == nightly::Consequence::stops;
  if (stops) return done;
  note(source, done ? "" : done.error().text());
  return {};
}

/// Whoever measures ends; what is due waits for that long. A stranger who does not is a problem.
bool Daemon::holds_machine() {
  const auto locked = application_.lock_machine();
  const bool is_expected = locked || locked.error().code == ErrorCode::conflict;
  note("machine_lock", is_expected ? "" : locked.error().text());
  const auto who = locked ? std::string() : locked.error().text();
  if (who != who_measures_ && is_expected) {
    logger_.info(locked ? "the machine is free again" : "waiting: " + who);
  }
  who_measures_ = who;
  return locked.has_value();
}

/// Whether anything may be begun that takes the disk, or disturbs who measures.
Result<bool> Daemon::may_begin(const std::stop_token& stop) {
  if (!holds_machine()) return false;
  TW_TRY_VOID(note_unless_it_stops("housekeeping", housekeeping_->tidy_if_asked(stop)));
  const auto reserved = caches::reserve_disk(cache_parts(application_));
  note("disk", reserved ? "" : reserved.error().text());
  return reserved.has_value();
}

Result<bool> Daemon::attend_next(std::stop_token stop) {
  TW_TRY(const bool may, may_begin(stop));
  if (!may) return false;
  auto& services = application_.services();
  nightly::WorkList work(services, nightly::Retry::when_due);
  TW_TRY(const bool hurried, attend_next_request(application_, Urgency::now, stop));
  if (hurried) return true;
  TW_TRY(const auto nightly, work.carry_out_next(nightly::Scope::nightlies, stop));
  if (nightly) return true;
  TW_TRY(const bool asked, attend_next_request(application_, Urgency::in_turn, stop));
  if (asked) return true;
  TW_TRY(const auto requested, work.carry_out_next(nightly::Scope::requested, stop));
  if (requested) return true;
  TW_TRY(const bool searched, attend_next_bisection(stop));
  if (searched) return true;
  return nightly::attend_second_searches(services, nightly::Retry::when_due, stop);
}

Status Daemon::deliver(std::stop_token stop) {
  const auto problem = outbox_.deliver(stop);
  // A damaged message, or settings of [github] that cannot work, keep no nightly from its verdict.
  if (!problem) return note_unless_it_stops("outbox", fail(problem.error()));
  note("outbox", *problem);
  return {};
}

Status Daemon::look_for_nightlies(std::stop_token stop) {
  auto& services = application_.services();
  const nightly::WorkItem item{
      .key = {storage::ItemKind::channel, "list"},
      .work = [&]() -> Status {
        const auto due = nightly::discover_comparisons(services, stop, nightly::Retry::when_due,
                                                       [&] { return may_begin(stop); });
        if (due) return {};
        const auto& error = due.error();
        const bool stops = nightly::consequence_of(error.code) == nightly::Consequence::stops;
        // The channel has no end: whatever is wrong with it, it is listed again later.
        return fail(error.as(stops ? error.code : ErrorCode::unavailable));
      },
      .end = [](nightly::Failure, const std::string&) { return Status{}; }};
  const auto now = services.clock.monotonic_now();
  if (now < next_look_) return {};
  next_look_ = now + application_.config().channel.poll;
  const auto attended = nightly::attend(services, item);
  application_.activity().clear();
  return attended ? Status{} : Status{fail(attended.error())};
}

/// A bisection that was asked for on a command line and interrupted.
Result<bool> Daemon::attend_next_bisection(std::stop_token stop) {
  auto& services = application_.services();
  TW_TRY(const auto open, storage::BisectionStore(services.database).unfinished());
  TW_TRY(const auto of_requests, bisections_of_requests(application_));
  for (const auto& bisection : open) {
    if (of_requests.contains(bisection.id)) continue;
    TW_TRY(const bool due, nightly::is_due(services, nightly::key_of(bisection)));
    if (bisection.incident || !due) continue;
    TW_TRY_VOID(nightly::attend_bisection(services, bisection, stop));
    return true;
  }
  return false;
}

void Daemon::note(const std::string& source, const std::string& problem) {
  if (!health_.note(source, problem)) return;
  if (problem.empty()) {
    logger_.info(source + " works again");
  } else {
    logger_.error(source + ": " + problem);
  }
}

void Sleeper::wake() {
  const std::scoped_lock lock(mutex_);
  woken_ = true;
  wake_.notify_all();
}

bool Sleeper::sleep(std::chrono::seconds limit, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, stop, limit, [this] { return woken_; });
  return std::exchange(woken_, false);
}

}  // namespace torchwatch::daemon
