#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/nightly/night.hpp"
#include "torchwatch/nightly/search_result.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

using namespace torchwatch;
using test::ScriptedDay;
using test::ScriptedService;

namespace {

std::unique_ptr<ScriptedService> open(const config::Config& config) {
  auto service = ScriptedService::open(config);
  if (!service) FAIL(service.error().message);
  return std::move(*service);
}

std::unique_ptr<ScriptedService> open(const ScriptedDay& day) {
  return open(day.config());
}

std::vector<storage::NightRow> carry_out(ScriptedService& service) {
  const auto nights = service.carry_out_due_nights();
  if (!nights) FAIL(nights.error().message);
  return *nights;
}

nightly::SearchResult search_of(storage::Database& database, const storage::IncidentRow& incident) {
  REQUIRE(incident.bisection);
  const auto row = storage::BisectionStore(database).get(*incident.bisection).value();
  return nightly::parse_search_result(row.answer_json).value();
}

/// The numbers of the builders that made what lies in a cache.
std::set<std::string> builders_of(const std::filesystem::path& cache) {
  std::set<std::string> numbers;
  for (const auto& entry : std::filesystem::directory_iterator(cache)) {
    std::ifstream file(entry.path() / "builder");
    for (std::string number; std::getline(file, number);) numbers.insert(number);
  }
  return numbers;
}

int count_events(storage::Database& database, storage::Id bisection, const std::string& kind) {
  const auto events = storage::BisectionStore(database).events_of(bisection).value();
  return static_cast<int>(
      std::ranges::count_if(events, [&](const auto& event) { return event.kind == kind; }));
}

}  // namespace

TEST_CASE("a night finds both culprits of its day and queues one issue for each") {
  const bool take_turns = GENERATE(true, false);
  CAPTURE(take_turns);
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), test::day_with_two_culprits());
  auto config = day.config();
  config.measure.take_turns = take_turns;
  const auto service = open(config);
  const auto nights = carry_out(*service);
  REQUIRE(nights.size() == 1);
  REQUIRE(nights[0].state == storage::NightState::reported);

  auto& database = service->workshop().database;
  storage::IncidentStore store(database);
  const auto incidents = store.of_night(nights[0].id).value();
  REQUIRE(incidents.size() == 2);
  for (const auto& incident : incidents) {
    const auto result = search_of(database, incident);
    INFO(incident.title << ": " << result.reason);
    const auto culprit = incident.kind == IncidentKind::leak ? 8U : 5U;
    REQUIRE(result.culprit() == day.commits()[culprit]);
    REQUIRE(result.culprits[0].verified.find("takes the change away") != std::string::npos);
    REQUIRE(store.outbox_of(incident.id).value().size() == 1);
    // Ends, culprit and at times a rest in pairs; what lies between the ends alone, but for times
    // that were read in turns.
    const bool in_turns = take_turns && incident.kind == IncidentKind::regression;
    REQUIRE(count_events(database, *incident.bisection, "measured") >= (in_turns ? 3 : 2));
    REQUIRE((count_events(database, *incident.bisection, "measured_alone") == 0) == in_turns);
    REQUIRE(count_events(database, *incident.bisection, "level_lost") == 0);
  }
  REQUIRE(database.check_invariants().value().empty());
}

TEST_CASE("a search with several builders names the same culprits") {
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), test::day_with_two_culprits());
  auto config = day.config();
  config.build.builders = 3;
  const auto service = open(config);
  const auto nights = carry_out(*service);
  REQUIRE(nights.size() == 1);

  auto& database = service->workshop().database;
  const auto incidents = storage::IncidentStore(database).of_night(nights[0].id).value();
  REQUIRE(incidents.size() == 2);
  for (const auto& incident : incidents) {
    const auto culprit = incident.kind == IncidentKind::leak ? 8U : 5U;
    REQUIRE(search_of(database, incident).culprit() == day.commits()[culprit]);
  }
  REQUIRE(builders_of(config.build.cache) == std::set<std::string>{"0", "1", "2"});
  REQUIRE(database.check_invariants().value().empty());
}

TEST_CASE("a second look finds the night done and does nothing") {
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), test::day_with_two_culprits());
  const auto service = open(day);
  carry_out(*service);
  const auto before = test::final_state(service->workshop().database).value();
  REQUIRE(carry_out(*service).empty());
  REQUIRE(test::final_state(service->workshop().database).value() == before);
}

TEST_CASE("a day without a culprit yields no incident") {
  const test::TemporaryFolder folder;
  auto commits = test::day_with_two_culprits();
  for (auto& commit : commits) {
    const bool culprit =
        commit.behaviour.starts_with("time") || commit.behaviour.starts_with("leak");
    if (culprit) commit.behaviour = "# harmless";
  }
  const ScriptedDay day(folder.path(), commits);
  const auto service = open(day);
  const auto nights = carry_out(*service);
  REQUIRE(nights.size() == 1);
  REQUIRE(storage::IncidentStore(service->workshop().database).list(10).value().empty());
}

TEST_CASE("a nightly with the same libraries as the one before ends without a measurement") {
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), {{"One", "noise 0.01"}, {"Two", ""}});
  const auto service = open(day);
  const auto nights = carry_out(*service);
  REQUIRE(nights.size() == 1);
  REQUIRE(nights[0].state == storage::NightState::reported);
  REQUIRE(nights[0].reason.find("the same libraries") != std::string::npos);
}

TEST_CASE("a workload that no longer runs is an incident of kind lost") {
  const std::string how = GENERATE("crash dlrm cpu-train", "failed dlrm cpu-train boom");
  CAPTURE(how);
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), {{"One", "noise 0.01"}, {"Two", how}});
  const auto service = open(day);
  const auto nights = carry_out(*service);
  const auto incidents =
      storage::IncidentStore(service->workshop().database).of_night(nights.at(0).id).value();
  REQUIRE(incidents.size() == 1);
  REQUIRE(incidents[0].kind == IncidentKind::lost);
}

TEST_CASE("a damaged nightly is rejected with its reason and the others go on") {
  const test::TemporaryFolder folder;
  ScriptedDay day(folder.path(), test::day_with_two_culprits());
  day.publish("2026-08-18", day.commits().back(), "noise 0.01");
  std::filesystem::remove(folder.path() / "nightlies/2026-08-18/lib/libtorch_cpu.so");
  const auto service = open(day);
  const auto nights = carry_out(*service);
  REQUIRE(nights.size() == 1);
  REQUIRE(nights[0].state == storage::NightState::reported);
}

TEST_CASE("the same change found again is a comment on its open incident, not a second one") {
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), test::day_with_two_culprits());
  const auto service = open(day);
  const auto first = carry_out(*service).at(0);
  auto& workshop = service->workshop();
  const auto again =
      nightly::open_explicit_night(workshop, first.candidate, *first.baseline, true).value();
  REQUIRE(nightly::carry_out_night(workshop, again, {}));

  storage::IncidentStore store(workshop.database);
  const auto incidents = store.list(10).value();
  REQUIRE(incidents.size() == 2);
  for (const auto& incident : incidents) {
    const auto messages = store.outbox_of(incident.id).value();
    REQUIRE(messages.size() == 2);
    REQUIRE(messages[1].kind == storage::OutboxKind::comment);
  }
}

TEST_CASE("a comparison that was interrupted is gone on with, one that has ended is made anew") {
  const test::TemporaryFolder folder;
  const ScriptedDay day(folder.path(), {{"One", "noise 0.01"}, {"Two", "noise 0.01"}});
  const auto service = open(day);
  const auto night = carry_out(*service).at(0);
  auto& workshop = service->workshop();
  const auto open_one = [&](bool finds_incidents) {
    return nightly::open_explicit_night(workshop, night.candidate, *night.baseline, finds_incidents)
        .value();
  };
  const auto interrupted = open_one(false);
  CHECK(open_one(false).id == interrupted.id);
  CHECK(open_one(true).id != interrupted.id);
  REQUIRE(nightly::carry_out_night(workshop, interrupted, {}));
  CHECK(open_one(false).id != interrupted.id);
}

namespace {

/// A day that makes training slower in its second nightly; the third does as told.
std::vector<storage::IncidentRow> after_third_nightly(const std::filesystem::path& folder,
                                                      const std::string& behaviour) {
  ScriptedDay day(
      folder,
      {{"One", "noise 0.01"}, {"Two", "time dlrm cpu-train 1.5"}, {"Three", "# the third"}});
  day.publish("2026-08-17", day.commits()[1], "noise 0.01\ntime dlrm cpu-train 1.5");
  day.publish("2026-08-18", day.commits()[2], behaviour);
  const auto service = open(day);
  carry_out(*service);
  auto& database = service->workshop().database;
  REQUIRE(database.check_invariants().value().empty());
  REQUIRE(storage::NightStore(database).unfinished().value().empty());
  return storage::IncidentStore(database).list(10).value();
}

}  // namespace

TEST_CASE("an incident of which a later nightly shows nothing any more is closed") {
  const test::TemporaryFolder folder;
  const auto incidents = after_third_nightly(folder.path(), "noise 0.01\n# undone");
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].state == storage::IncidentState::closed);
  const auto database =
      storage::Database::open({.path = folder.path() / "state/torchwatch.sqlite"});
  const auto messages = storage::IncidentStore(**database).outbox_of(incidents[0].id).value();
  REQUIRE(messages.size() == 2);
  CHECK(messages[1].kind == storage::OutboxKind::close);
  CHECK(messages[1].body.find("nothing of this is left") != std::string::npos);
}

TEST_CASE("an incident that a later nightly still shows stays open without another word") {
  const test::TemporaryFolder folder;
  const auto incidents =
      after_third_nightly(folder.path(), "noise 0.01\ntime dlrm cpu-train 1.5\n# the third");
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].state == storage::IncidentState::open);
}
