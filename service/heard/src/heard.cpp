#include "torchwatch/heard/heard.hpp"

#include <algorithm>

#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::heard {

using nlohmann::json;
using storage::MuteRow;
using storage::TrackerEventRow;

Result<std::vector<MuteRow>> mutes_of(storage::Database& database,
                                      const std::vector<Series>& series, storage::WallMillis now) {
  TW_TRY(auto mutes, storage::MuteStore(database).active(now));
  std::erase_if(mutes, [&](const MuteRow& mute) {
    return std::ranges::none_of(
        series, [&](const Series& each) { return storage::is_muted_by(mute.target, each); });
  });
  return mutes;
}

Result<std::vector<MuteRow>> mutes_of(storage::Database& database,
                                      const storage::IncidentRow& incident,
                                      storage::WallMillis now) {
  std::vector<Series> series;
  for (const auto& each : incident.series) series.push_back(each.series);
  return mutes_of(database, series, now);
}

std::string mute_text(const MuteRow& mute) {
  return mute.target + " until " + platform::date_and_minute(mute.until) + " UTC by " +
         mute.made_by + ": " + mute.reason;
}

std::string event_text(const TrackerEventRow& event) {
  const auto by = event.login.empty() ? std::string() : " by " + event.login;
  const auto detail = event.detail.empty() ? std::string() : ": " + event.detail;
  return event.event + by + " on " + platform::date_and_minute(event.happened_at) + " UTC" + detail;
}

json json_of(const MuteRow& mute, storage::WallMillis now, bool is_trusted) {
  return {{"id", mute.id},
          {"target", mute.target},
          {"until", platform::iso_utc(mute.until)},
          {"active", mute.until > now},
          {"by", mute.made_by},
          {"reason", mute.reason},
          {"asked_by", is_trusted ? json(mute.asked_by) : json()},
          {"made_at", platform::iso_utc(mute.made_at)}};
}

json json_of(const TrackerEventRow& event) {
  return {{"event", event.event},
          {"by", report::text_or_null(event.login)},
          {"detail", report::text_or_null(event.detail)},
          {"at", platform::iso_utc(event.happened_at)}};
}

}  // namespace torchwatch::heard
