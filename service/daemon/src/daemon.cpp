#include "torchwatch/daemon/daemon.hpp"

#include <algorithm>
#include <utility>

#include "conversing.hpp"
#include "database_upkeep.hpp"
#include "deliveries.hpp"
#include "housekeeping.hpp"
#include "requests.hpp"
#include "torchwatch/daemon/page_sources.hpp"
#include "torchwatch/health/alarms.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/second_searches.hpp"
#include "torchwatch/nightly/work_list.hpp"
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

/// When a daemon began and stopped is said by `torchwatch status`; it is not a reason not to work.
void note_run(Application& application, bool is_start) {
  storage::DaemonStore store(application.services().database);
  const auto now = application.services().clock.wall_now();
  const auto noted = is_start ? store.note_start(now) : store.note_stop(now);
  if (noted) return;
  application.log().logger("daemon").warning("start and stop cannot be noted: " +
                                             noted.error().text());
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
  TW_TRY(auto outbox, Outbox::open(application));
  TW_TRY(auto reader, open_reader(application.config()));
  std::unique_ptr<Daemon> daemon(new Daemon(application, std::move(reader)));
  daemon->deliveries_ = std::make_unique<Deliveries>(
      application, std::move(outbox),
      [&self = *daemon](const auto& source, const auto& problem) { self.note(source, problem); });
  note_run(application, true);
  const auto serves = daemon->start_server();
  if (serves) return daemon;
  note_run(application, false);
  return fail(serves.error());
}

Daemon::Daemon(Application& application, std::unique_ptr<storage::Database> reader)
    : application_(application),
      reader_(std::move(reader)),
      logger_(application.log().logger("daemon")),
      started_(application.services().clock.wall_now()),
      health_(*reader_, application.services().clock),
      count_commits_(commit_counter(application.config())),
      housekeeping_(std::make_unique<Housekeeping>(
          application, [this](const auto& source, const auto& problem) { note(source, problem); })),
      upkeep_(
          std::make_unique<DatabaseUpkeep>(application.config(), application.services().clock)) {}

/// What other threads use ends after them.
Daemon::~Daemon() {
  if (server_) server_->stop();
  deliveries_.reset();
  conversing_.reset();
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
  deliveries_->begin();
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
  upkeep_->end();
  server_->stop();
  deliveries_.reset();
  conversing_.reset();
  feed_->end();
  note_run(application_, false);
  logger_.info("stopped");
  return {};
}

Result<bool> Daemon::work_once(std::stop_token stop) {
  auto& services = application_.services();
  TW_TRY_VOID(services.database.check_files());
  TW_TRY_VOID(deliveries_->damage());
  TW_TRY_VOID(note_unless_it_stops("alarms", look_for_missing_data(application_, started_)));
  TW_TRY_VOID(look_at_nodes());
  TW_TRY_VOID(answer_triggers(application_));
  TW_TRY_VOID(look_for_nightlies(stop));
  TW_TRY(const bool is_busy, attend_next(stop));
  application_.activity().clear();
  if (is_busy) {
    are_nodes_known_ = false;
    note("database_disk", "");  // what was worked on is stored
    return true;
  }
  TW_TRY_VOID(keep_house(stop));
  return false;
}

Status Daemon::keep_house(std::stop_token stop) {
  // Whoever measures uses what lies in the caches. Afterwards a person may measure.
  const UnlockedAtEnd unlocked{application_};
  const bool is_free = application_.lock_machine().has_value();
  if (is_free) {
    // While nothing is stored, nothing else says that the disk cannot be written.
    const auto written = health::require_writable_disk(application_.config());
    TW_TRY_VOID(note_unless_it_stops("database_disk", written));
  }
  const auto kept = is_free ? housekeeping_->look_after(std::move(stop)) : Status{};
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

/// At the start, and after each piece of work: only runs tell how nodes differ.
Status Daemon::look_at_nodes() {
  if (are_nodes_known_) return {};
  const auto differing = health::nodes_that_differ(application_.services().database);
  if (!differing) return note_unless_it_stops("nodes", Status{fail(differing.error())});
  note("nodes", *differing);
  are_nodes_known_ = true;
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

}  // namespace torchwatch::daemon
