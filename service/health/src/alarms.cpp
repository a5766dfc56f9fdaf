#include "torchwatch/health/alarms.hpp"

#include <algorithm>

#include "alarm_text.hpp"
#include "torchwatch/issues/issue.hpp"

namespace torchwatch::health {
namespace {

using storage::AlarmCause;
using storage::WallMillis;

bool is_longer(WallMillis from, WallMillis to, std::chrono::seconds limit) {
  return limit.count() > 0 && to - from > std::chrono::milliseconds(limit).count();
}

storage::OutboxRow message(const AlarmParts& parts, const storage::AlarmRow& alarm,
                           const std::string& what, std::string title, const std::string& body) {
  storage::OutboxRow row;
  row.key = what + "-alarm-" + std::string(to_string(alarm.cause)) + "-" +
            std::to_string(alarm.raised_at);
  row.title = std::move(title);
  row.body = report::with_marker(body, row.key, parts.random.token());
  return row;
}

Status end_alarm(const AlarmParts& parts, const storage::AlarmRow& alarm) {
  return storage::AlarmStore(parts.database)
      .end(alarm, message(parts, alarm, "end", "", alarm_end(alarm)), parts.clock.wall_now());
}

Status raise_alarm(const AlarmParts& parts, const MissingData& missing) {
  const storage::AlarmRow alarm{.cause = missing.cause,
                                .since = missing.since,
                                .raised_at = parts.clock.wall_now(),
                                .issue_number = {}};
  const auto opening = message(parts, alarm, "open", alarm_title(alarm), alarm_body(alarm));
  const auto raised = storage::AlarmStore(parts.database).raise(alarm, opening);
  return raised ? Status{} : Status{fail(raised.error())};
}

}  // namespace

std::vector<MissingData> missing_data(const storage::DataTimes& times, const config::Config& config,
                                      WallMillis started, WallMillis now) {
  std::vector<MissingData> missing;
  const auto& limits = config.alarm;
  const auto last_nightly = times.last_nightly.value_or(started);
  if (is_longer(last_nightly, now, limits.no_nightly)) {
    missing.push_back({AlarmCause::no_nightly, last_nightly});
  }
  if (times.without_verdict && is_longer(*times.without_verdict, now, limits.no_verdict)) {
    missing.push_back({AlarmCause::no_verdict, *times.without_verdict});
  }
  // Without a repository messages stay in the outbox because somebody wants it so.
  const bool delivers = !config.github.repository.empty();
  if (delivers && times.undelivered && is_longer(*times.undelivered, now, limits.no_delivery)) {
    missing.push_back({AlarmCause::no_delivery, *times.undelivered});
  }
  // Self-tests follow nightlies: without those, none is overdue.
  const auto tested = times.last_self_test ? times.last_self_test : times.first_nightly;
  if (tested && is_longer(*tested, last_nightly, limits.no_self_test)) {
    missing.push_back({AlarmCause::no_self_test, *tested});
  }
  if (config.detect.drill_every > 0 && times.missed_drill) {
    missing.push_back({AlarmCause::missed_drill, *times.missed_drill});
  }
  return missing;
}

Status update_alarms(const AlarmParts& parts, WallMillis started) {
  storage::AlarmStore store(parts.database);
  TW_TRY(const auto times, store.times());
  const auto missing = missing_data(times, parts.config, started, parts.clock.wall_now());
  TW_TRY(const auto open, store.open());
  for (const auto& alarm : open) {
    if (std::ranges::find(missing, alarm.cause, &MissingData::cause) != missing.end()) continue;
    TW_TRY_VOID(end_alarm(parts, alarm));
  }
  for (const auto& each : missing) {
    if (std::ranges::find(open, each.cause, &storage::AlarmRow::cause) != open.end()) continue;
    TW_TRY_VOID(raise_alarm(parts, each));
  }
  return {};
}

}  // namespace torchwatch::health
