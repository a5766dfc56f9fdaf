#include "housekeeping.hpp"

#include <algorithm>
#include <filesystem>

#include "torchwatch/caches/caches.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/platform/folder.hpp"
#include "torchwatch/runs/retention.hpp"
#include "torchwatch/traces/traces.hpp"

namespace torchwatch::daemon {
namespace {

constexpr std::chrono::hours kEvery{24};

/// "2 rules are broken, first slot_is_filled_once: slot s of comparison 4".
std::string text_on(const std::vector<storage::InvariantBreach>& breaches) {
  if (breaches.empty()) return "";
  const auto& first = breaches.front();
  return figures::count(breaches.size(), "rule") + (breaches.size() == 1 ? " is" : " are") +
         " broken, first " + first.invariant + ": " + first.rows +
         "; `torchwatch database check` lists them";
}

/// The time of files that were written at that moment.
std::filesystem::file_time_type written_at(storage::WallMillis moment,
                                           const platform::Clock& clock) {
  const auto age = std::chrono::milliseconds(clock.wall_now() - moment);
  return std::filesystem::file_time_type::clock::now() - age;
}

}  // namespace

Status Housekeeping::look_after(std::stop_token stop) {
  const auto now = application_.services().clock.monotonic_now();
  if (next_time_ && now < *next_time_) return {};
  // What cannot be done today keeps no other step from being done, and is tried again tomorrow.
  Status all;
  for (const auto step :
       {&Housekeeping::check_database, &Housekeeping::thin_samples, &Housekeeping::remove_outputs,
        &Housekeeping::remove_traces, &Housekeeping::tidy}) {
    const auto done = (this->*step)(stop);
    if (!done && done.error().code == ErrorCode::damaged) return done;
    if (!done && all) all = done;
  }
  if (!stop.stop_requested()) next_time_ = now + kEvery;
  return all;
}

Result<storage::WallMillis> Housekeeping::before(std::chrono::seconds age) {
  auto& services = application_.services();
  TW_TRY(const auto times, storage::AlarmStore(services.database).times());
  // Counted from the newest comparison: a clock that is years ahead must not remove everything.
  const auto newest = std::min(services.clock.wall_now(), times.last_comparison.value_or(0));
  return newest - std::chrono::milliseconds(age).count();
}

Status Housekeeping::thin_samples(const std::stop_token& stop) {
  const auto age = application_.config().retention.samples;
  if (age.count() == 0) return {};
  TW_TRY(const auto oldest, before(age));
  // One comparison a transaction: the server's threads get in between.
  bool is_more = true;
  while (is_more && !stop.stop_requested()) {
    TW_TRY(is_more, storage::thin_oldest_comparison(application_.services().database, oldest));
  }
  return {};
}

Status Housekeeping::remove_outputs(const std::stop_token&) {
  const auto age = application_.config().retention.logs;
  if (age.count() == 0) return {};
  TW_TRY(const auto oldest, before(age));
  remove_old_logs(oldest);
  TW_TRY_VOID(storage::remove_outputs(application_.services().database, oldest));
  return {};
}

Status Housekeeping::remove_traces(const std::stop_token&) {
  const auto& config = application_.config();
  auto oldest = std::filesystem::file_time_type::min();
  if (config.retention.traces.count() > 0) {
    TW_TRY(const auto moment, before(config.retention.traces));
    oldest = written_at(moment, application_.services().clock);
  }
  TW_TRY_VOID(traces::remove_old(traces::folder_beside(config.storage.path), oldest));
  return {};
}

Status Housekeeping::tidy(const std::stop_token&) {
  if (auto* const heads = application_.pull_parts().heads) {
    const auto oldest =
        std::filesystem::file_time_type::clock::now() - application_.config().pull.keep;
    TW_TRY_VOID(heads->remove_older(oldest));
  }
  const auto tidied =
      caches::tidy(cache_parts(application_), application_.config().build.cache_limit_bytes);
  note_("cache", tidied ? "" : tidied.error().text());
  if (tidied) {
    application_.log().logger("daemon").info("caches tidied",
                                             {{"before", figures::bytes(tidied->before.sum())},
                                              {"after", figures::bytes(tidied->after.sum())}});
  }
  return {};
}

Status Housekeeping::tidy_if_asked(const std::stop_token& stop) {
  return is_asked_to_tidy_.exchange(false) ? tidy(stop) : Status{};
}

void Housekeeping::remove_old_logs(storage::WallMillis before) {
  const auto oldest = written_at(before, application_.services().clock);
  const auto folder = application_.config().build.cache / "commits";
  for (const auto& entry : platform::list_folder(folder).entries) {
    if (entry.path().extension() != ".log") continue;
    std::error_code gone;
    const auto written = entry.last_write_time(gone);
    if (!gone && written < oldest) std::filesystem::remove(entry.path(), gone);
  }
}

Status Housekeeping::check_database(const std::stop_token& stop) {
  // A connection of its own: the server's threads do not wait for the many pages that are read.
  TW_TRY(const auto reader, open_reader(application_.config()));
  const auto breaches = reader->check_invariants(stop);
  if (breaches) {
    note_("database", text_on(*breaches));
    return {};
  }
  if (breaches.error().code == ErrorCode::damaged) return fail(breaches.error());
  if (breaches.error().code != ErrorCode::cancelled) note_("database", breaches.error().text());
  return {};
}

}  // namespace torchwatch::daemon
