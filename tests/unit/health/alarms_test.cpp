#include "torchwatch/health/alarms.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::health;
using storage::AlarmCause;
using storage::WallMillis;

namespace {

constexpr WallMillis kDay = 86'400'000;
constexpr WallMillis kStarted = 100 * kDay;

std::vector<AlarmCause> causes(const storage::DataTimes& times, WallMillis now,
                               const config::Config& config = {}) {
  std::vector<AlarmCause> causes;
  for (const auto& each : missing_data(times, config, kStarted, now)) causes.push_back(each.cause);
  return causes;
}

using Causes = std::vector<AlarmCause>;

storage::DataTimes nightlies(WallMillis first, WallMillis last) {
  storage::DataTimes times;
  times.first_nightly = first;
  times.last_nightly = last;
  return times;
}

}  // namespace

TEST_CASE("nightlies that stay away are an alarm, also where none ever came") {
  CHECK(causes({}, kStarted + 4 * kDay).empty());
  CHECK(causes({}, kStarted + 4 * kDay + 1) == Causes{AlarmCause::no_nightly});
  const auto came = nightlies(kStarted, kStarted + 3 * kDay);
  CHECK(causes(came, kStarted + 7 * kDay).empty());
  CHECK(causes(came, kStarted + 8 * kDay) == Causes{AlarmCause::no_nightly});
}

TEST_CASE("nightlies without verdicts are an alarm from the first of them on") {
  auto times = nightlies(kStarted, kStarted + 9 * kDay);
  CHECK(causes(times, kStarted + 10 * kDay).empty());
  times.without_verdict = kStarted + 5 * kDay;
  CHECK(causes(times, kStarted + 10 * kDay) == Causes{AlarmCause::no_verdict});
}

TEST_CASE("an issue that is not filed is an alarm where issues are to be filed") {
  auto times = nightlies(kStarted, kStarted);
  times.undelivered = kStarted;
  CHECK(causes(times, kStarted + 2 * kDay).empty());
  config::Config config;
  config.github.repository = "owner/name";
  CHECK(causes(times, kStarted + 2 * kDay, config) == Causes{AlarmCause::no_delivery});
}

TEST_CASE("a self-test is overdue by the nightlies that came since") {
  auto times = nightlies(kStarted, kStarted + 61 * kDay);
  CHECK(causes(times, kStarted + 61 * kDay) == Causes{AlarmCause::no_self_test});
  times.last_self_test = kStarted + 20 * kDay;
  CHECK(causes(times, kStarted + 61 * kDay).empty());
}

TEST_CASE("a planted slowdown that was missed is an alarm as long as slowdowns are planted") {
  auto times = nightlies(kStarted, kStarted);
  times.missed_drill = kStarted;
  CHECK(causes(times, kStarted) == Causes{AlarmCause::missed_drill});
  config::Config config;
  config.detect.drill_every = 0;
  CHECK(causes(times, kStarted, config).empty());
}

TEST_CASE("a limit of 0 switches an alarm off, and a clock that went back raises none") {
  config::Config config;
  config.alarm.no_nightly = std::chrono::seconds(0);
  CHECK(causes({}, kStarted + 400 * kDay, config).empty());
  CHECK(causes({}, 0).empty());
}
