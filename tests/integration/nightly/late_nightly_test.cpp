// Nightlies that come late, go away, come back or are mended in their place.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "fake_clock.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/triage/triage.hpp"

using namespace torchwatch;
using Catch::StartsWith;
using storage::ComparisonState;

namespace fs = std::filesystem;

namespace {

constexpr const char* kQuiet = "noise 0.01 fixed";
constexpr const char* kSlow = "noise 0.01 fixed\ntime dlrm cpu-infer 1.5";

/// A channel of nightlies "16" to "19", one for each commit, and a service that follows it.
struct Followed {
  Followed()
      : day(folder.path(), {{"16", kQuiet}, {"17", "# 17"}, {"18", "# 18"}, {"19", "# 19"}}) {
    fs::remove_all(channel());
    auto config = day.config();
    config.suite.workloads = {"dlrm"};
    config.suite.configurations = {{Device::cpu, Mode::infer}};
    config.detect.drift_every = 0;
    fs::create_directories(channel());
    service = test::ScriptedService::open(config).value();
  }

  fs::path channel() const { return folder.path() / "nightlies"; }
  void publish(int number, const std::string& behaviour) {
    const auto commit = day.commits()[static_cast<std::size_t>(number - 16)];
    day.publish(std::to_string(number), commit, behaviour + "\n# " + std::to_string(number));
  }

  comparison::Services services() {
    auto& own = service->services();
    return {own.config,  own.database, own.executor, own.runners, own.channel,
            own.history, own.commits,  clock,        own.random,  own.progress};
  }
  /// Nightlies 16 and 17, the second one behaving so.
  void publish_two(const std::string& second = kQuiet) {
    publish(16, kQuiet);
    publish(17, second);
  }
  void discover() {
    auto now = services();
    REQUIRE(nightly::discover_comparisons(now, {}, nightly::Retry::when_due));
  }
  /// Does what is due now, as the daemon does.
  void work() {
    auto now = services();
    nightly::WorkList list(now, nightly::Retry::when_due);
    for (const auto scope : {nightly::Scope::nightlies, nightly::Scope::requested}) {
      while (list.carry_out_next(scope, {}).value()) {
      }
    }
    clock.advance(std::chrono::hours(1));
  }
  void follow() {
    discover();
    work();
  }

  storage::Database& database() { return service->services().database; }
  std::vector<storage::IncidentRow> incidents() {
    return storage::IncidentStore(database()).list(10).value();
  }
  std::string name_of(storage::Id build) {
    return storage::BuildStore(database()).get(build).value().name;
  }
  storage::ComparisonRow nightly_of(const std::string& name) {
    const auto rows = storage::ComparisonStore(database()).list(100).value();
    const auto found = std::ranges::find_if(rows, [&](const auto& row) {
      return row.purpose == storage::Purpose::nightly && name_of(row.candidate) == name;
    });
    REQUIRE(found != rows.end());
    return *found;
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day;
  test::FakeClock clock;
  std::unique_ptr<test::ScriptedService> service;
};

}  // namespace

TEST_CASE("a late nightly is not the newest, and closes no incident that a newer one shows") {
  Followed followed;
  followed.publish_two(kSlow);
  followed.follow();
  followed.publish(19, kSlow);
  followed.follow();
  REQUIRE(followed.incidents().size() == 1);
  auto services = followed.services();
  const auto shown = followed.nightly_of("19").candidate;
  const auto good = followed.nightly_of("17").baseline.value();
  const auto again = nightly::open_requested_comparison(services, shown, good, true).value();
  REQUIRE(nightly::carry_out_comparison(services, again, {}));
  REQUIRE(followed.incidents().size() == 1);

  followed.publish(18, kQuiet);
  followed.follow();
  followed.follow();
  CHECK(followed.nightly_of("18").state == ComparisonState::reported);
  const auto incidents = followed.incidents();
  REQUIRE(incidents.size() == 2);
  CHECK(incidents[1].state == storage::IncidentState::open);
  const auto newest = report::newest_nightly(followed.database()).value();
  CHECK(followed.name_of(newest.known->candidate) == "19");
  CHECK(followed.name_of(newest.judged->candidate) == "19");
  const auto retest = triage::retest_incident(services, incidents[1].id).value();
  CHECK(followed.name_of(retest.comparison.candidate) == "19");

  // 18 is as fast as 16, so what made 19 slow came after 18.
  const auto found_by =
      storage::ComparisonStore(followed.database()).get(incidents[0].comparison).value();
  CHECK(followed.name_of(*found_by.baseline) == "18");
  CHECK(followed.name_of(found_by.candidate) == "19");
}

TEST_CASE("a channel that is away for a while costs no nightly its verdict") {
  Followed followed;
  followed.publish_two();
  followed.discover();
  const auto away = followed.folder.path() / "away";
  fs::rename(followed.channel(), away);
  followed.work();
  CHECK(followed.nightly_of("17").state == ComparisonState::discovered);
  fs::rename(away, followed.channel());
  followed.follow();
  CHECK(followed.nightly_of("17").state == ComparisonState::reported);
}

TEST_CASE("a nightly whose folder was deleted is measured when it is back") {
  Followed followed;
  followed.publish_two();
  followed.discover();
  const auto away = followed.folder.path() / "away";
  fs::rename(followed.channel() / "17", away);
  followed.work();
  const auto refused = followed.nightly_of("17");
  CHECK(refused.state == ComparisonState::refused);
  REQUIRE(report::left_out_nightlies(followed.database())->size() == 1);
  const auto left_out = report::left_out_nightlies(followed.database())->front();
  CHECK_THAT(report::reason_of(left_out), StartsWith(std::string(nightly::kFilesGone)));
  fs::rename(away, followed.channel() / "17");
  followed.follow();
  CHECK(followed.nightly_of("17").id == refused.id);
  CHECK(followed.nightly_of("17").state == ComparisonState::reported);
  CHECK(report::left_out_nightlies(followed.database())->empty());
}

TEST_CASE("a nightly that is mended in its place is another build, and gets its verdict") {
  Followed followed;
  followed.publish_two();
  followed.discover();
  std::ofstream(followed.channel() / "17" / "lib" / "libtorch.so", std::ios::app) << "other bytes";
  followed.work();
  CHECK(followed.nightly_of("17").state == ComparisonState::refused);
  followed.follow();
  CHECK(followed.nightly_of("17").state == ComparisonState::reported);
}
