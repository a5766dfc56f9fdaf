// One item of work that fails never keeps another from being done: every error, at every step of a
// nightly, with a good nightly behind it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "fake_clock.hpp"
#include "planted_fault.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/health/report.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using storage::ComparisonState;
using test::FaultStep;
using test::PlantedFault;

namespace {

constexpr std::string_view kFaulty = "2026-08-18";

constexpr std::array kSteps{FaultStep::list, FaultStep::fetch, FaultStep::kit, FaultStep::run,
                            FaultStep::throws};

PlantedFault fault_of(FaultStep step, ErrorCode code, int times) {
  return {.step = step, .code = code, .times = times, .build = std::string(kFaulty)};
}

/// Five nightlies without any change; the third is the faulty one.
struct FiveNightlies {
  FiveNightlies()
      : day(folder.path(), {{"One", "noise 0.01 fixed"},
                            {"Two", "# 2"},
                            {"Three", "# 3"},
                            {"Four", "# 4"},
                            {"Five", "# 5"}}) {
    const std::array names{"2026-08-16", "2026-08-17", "2026-08-18", "2026-08-19", "2026-08-20"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      day.publish(names.at(i), day.commits()[i], "noise 0.01 fixed\n# " + std::to_string(i));
    }
    auto config = day.config();
    config.suite.workloads = {"dlrm"};
    config.suite.configurations = {{Device::cpu, Mode::infer}};
    auto opened = test::ScriptedService::open(config);
    if (!opened) FAIL(opened.error().message);
    service = std::move(*opened);
  }

  /// Does what the daemon does, an hour after the other, until nothing is left to do.
  void work(PlantedFault& fault) {
    test::FaultyParts parts(service->services(), fault, clock);
    auto& services = parts.services;
    for (int hour = 0; hour < 12; ++hour) {
      const auto due = nightly::discover_comparisons(services, {}, nightly::Retry::when_due);
      if (!due) REQUIRE(fault.step == FaultStep::list);
      nightly::WorkList list(services, nightly::Retry::when_due);
      while (true) {
        const auto done = list.carry_out_next(nightly::Scope::nightlies, {});
        if (!done) FAIL(done.error().message);
        if (!*done) break;
      }
      clock.advance(std::chrono::hours(1));
    }
  }

  std::string baseline_of(const storage::ComparisonRow& row) {
    storage::BuildStore builds(service->services().database);
    return builds.get(row.baseline.value_or(0)).value().name;
  }

  /// Returns the nightly comparisons with that candidate that have a verdict.
  std::vector<storage::ComparisonRow> judged(std::string_view candidate) {
    auto& database = service->services().database;
    auto rows = storage::ComparisonStore(database).list(100).value();
    std::erase_if(rows, [&](const storage::ComparisonRow& row) {
      return row.purpose != storage::Purpose::nightly || row.state != ComparisonState::reported ||
             storage::BuildStore(database).get(row.candidate).value().name != candidate;
    });
    return rows;
  }

  std::vector<health::Problem> problems() {
    return health::stored_problems(service->services().database).value();
  }

  test::TemporaryFolder folder;
  test::ScriptedDay day;
  test::FakeClock clock;
  std::unique_ptr<test::ScriptedService> service;
};

}  // namespace

TEST_CASE("whatever fails at any step of a nightly, the nightlies around it have verdicts") {
  for (const auto step : kSteps) {
    for (const auto code : test::kItemErrors) {
      if (step == FaultStep::throws && code != ErrorCode::internal) continue;
      INFO("step " << static_cast<int>(step) << ", " << to_string(code));
      FiveNightlies nightlies;
      auto fault = fault_of(step, code, 100);
      nightlies.work(fault);
      if (step == FaultStep::list) {
        CHECK(nightlies.judged("2026-08-17").empty());
        continue;
      }
      CHECK(nightlies.judged("2026-08-17").size() == 1);
      // The next nightly has the faulty one for its baseline, unless that is rejected; the one
      // behind it has not.
      const auto next = nightlies.judged("2026-08-19");
      // What is listed and not there may come.
      const bool may_come = step == FaultStep::fetch && code == ErrorCode::not_found;
      const auto consequence =
          may_come ? nightly::Consequence::waits : nightly::consequence_of(code);
      const bool waits = consequence == nightly::Consequence::waits;
      if (step != FaultStep::run && !(step == FaultStep::kit && waits)) {
        REQUIRE_FALSE(next.empty());
        CHECK(nightlies.baseline_of(next.front()) == "2026-08-17");
      }
      CHECK_FALSE(nightlies.judged("2026-08-20").empty());
      CHECK_FALSE(health::is_failing(nightlies.problems()));
      if (waits) CHECK_FALSE(nightlies.problems().empty());
      if (consequence == nightly::Consequence::ends) CHECK(nightlies.problems().empty());
      CHECK(nightlies.service->services().database.check_invariants().value().empty());
    }
  }
}

TEST_CASE("what the machine, the network or a token is to blame for loses nothing") {
  for (const auto step : {FaultStep::list, FaultStep::fetch, FaultStep::kit, FaultStep::run}) {
    for (const auto code : {ErrorCode::unavailable, ErrorCode::timed_out}) {
      INFO("step " << static_cast<int>(step) << ", " << to_string(code));
      FiveNightlies nightlies;
      auto fault = fault_of(step, code, 4);
      nightlies.work(fault);
      CHECK(fault.times == 0);
      for (const auto* name : {"2026-08-17", "2026-08-18", "2026-08-19", "2026-08-20"}) {
        CHECK_FALSE(nightlies.judged(name).empty());
      }
      auto& database = nightlies.service->services().database;
      CHECK(storage::SetbackStore(database).list().value().empty());
    }
  }
}

TEST_CASE("a kit that does not compile has three tries, and its build says why it is left out") {
  FiveNightlies nightlies;
  auto fault = fault_of(FaultStep::kit, ErrorCode::failed, 100);
  nightlies.work(fault);
  CHECK(fault.times == 97);
  storage::BuildStore builds(nightlies.service->services().database);
  const auto rows = builds.list().value();
  const auto faulty = std::ranges::find(rows, kFaulty, &storage::BuildRow::name);
  REQUIRE(faulty != rows.end());
  CHECK(faulty->unusable == "given up after 3 tries: planted");
}

TEST_CASE("a build whose kit failed once is tried again where a person asks for it") {
  FiveNightlies nightlies;
  auto fault = fault_of(FaultStep::kit, ErrorCode::failed, 100);
  nightlies.work(fault);
  auto& services = nightlies.service->services();
  storage::BuildStore builds(services.database);
  const auto rows = builds.list().value();
  const auto faulty = std::ranges::find(rows, kFaulty, &storage::BuildRow::name);
  REQUIRE(faulty != rows.end());
  REQUIRE_FALSE(faulty->unusable.empty());
  const auto opened =
      nightly::open_requested_comparison(services, faulty->id, rows.front().id, false).value();
  const auto ended = nightly::carry_out_comparison(services, opened, {}).value();
  CHECK(ended.state == ComparisonState::reported);
  CHECK(builds.get(faulty->id).value().unusable.empty());
}

TEST_CASE("a nightly that nothing was measured of is planned by the configuration as it is now") {
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), {{"One", "noise 0.01 fixed"}, {"Two", "# 2"}});
  const auto carry_out = [&](const std::string& workload) {
    auto config = day.config();
    config.suite.workloads = {workload};
    config.suite.configurations = {{Device::cpu, Mode::infer}};
    const auto service = test::ScriptedService::open(config).value();
    REQUIRE(service->carry_out_due_comparisons());
    auto& database = service->services().database;
    return std::pair(storage::ComparisonStore(database).get(2).value(),
                     health::stored_problems(database).value());
  };
  const auto [waiting, told] = carry_out("dlrn");
  CHECK_FALSE(is_end(waiting.state));
  REQUIRE(told.size() == 1);
  CHECK(told.front().item == "2");
  CHECK_THAT(told.front().detail, Catch::Contains("dlrn") && Catch::Contains("dlrm"));
  const auto [compared, left] = carry_out("dlrm");
  CHECK(compared.state == ComparisonState::reported);
  CHECK_THAT(compared.plan_json, Catch::Contains("\"dlrm\""));
  CHECK(left.empty());
}

TEST_CASE("what waits is kept with its reason, its time and its count") {
  FiveNightlies nightlies;
  auto fault = fault_of(FaultStep::kit, ErrorCode::unavailable, 1000);
  const auto begun = nightlies.clock.wall_now();
  nightlies.work(fault);
  storage::SetbackStore store(nightlies.service->services().database);
  const auto waiting = store.find({storage::ItemKind::build, std::string(kFaulty)}).value();
  REQUIRE(waiting);
  CHECK(waiting->error == "planted");
  CHECK(waiting->tries == 0);
  CHECK(waiting->setbacks > 3);
  CHECK(waiting->since >= begun);
  CHECK(waiting->not_before > waiting->since);
}

TEST_CASE("a nightly whose files were removed from the cache is fetched again when it is needed") {
  FiveNightlies nightlies;
  auto& services = nightlies.service->services();
  PlantedFault none;
  nightlies.work(none);
  storage::BuildStore builds(services.database);
  auto evicted = builds.get(1).value();
  const auto folder = std::exchange(evicted.folder, (nightlies.folder.path() / "gone").string());
  REQUIRE(builds.mark_ready(evicted));
  const auto opened = nightly::open_requested_comparison(services, 2, 1, false).value();
  const auto ended = nightly::carry_out_comparison(services, opened, {}).value();
  CHECK(ended.state == ComparisonState::reported);
  CHECK(builds.get(1).value().folder == folder);
}

TEST_CASE("what a compiler prints about a build is stored as text, whatever bytes it has") {
  FiveNightlies nightlies;
  auto fault = fault_of(FaultStep::kit, ErrorCode::failed, 100);
  fault.message = "\033[1mkit.cpp\xff: error";
  nightlies.work(fault);
  const auto rows = storage::BuildStore(nightlies.service->services().database).list().value();
  const auto faulty = std::ranges::find(rows, kFaulty, &storage::BuildRow::name);
  REQUIRE(faulty != rows.end());
  CHECK(faulty->unusable == "given up after 3 tries: ?[1mkit.cpp?: error");
}

TEST_CASE("a commit that is unknown, or none, leaves the order of the other nightlies alone") {
  const test::TemporaryFolder folder;
  test::ScriptedDay day(folder.path(), test::day_with_two_culprits());
  day.publish("2026-08-18", std::string(40, 'd'), "noise 0.01");
  day.publish("2026-08-19", day.commits()[5], "noise 0.01\n# late");
  day.publish("2026-08-20", "notasha", "noise 0.01\n# no commit");
  const auto service = test::ScriptedService::open(day.config()).value();
  auto& services = service->services();
  REQUIRE(nightly::discover_comparisons(services, {}));
  storage::BuildStore builds(services.database);
  std::vector<std::string> pairs;
  const auto rows = storage::ComparisonStore(services.database).list(100).value();
  for (const auto& row : rows) {
    if (!row.baseline) continue;
    pairs.push_back(builds.get(row.candidate).value().name + " against " +
                    builds.get(*row.baseline).value().name);
  }
  std::ranges::sort(pairs);
  CHECK(pairs == std::vector<std::string>{"2026-08-17 against 2026-08-18",
                                          "2026-08-18 against 2026-08-19",
                                          "2026-08-19 against 2026-08-16"});
  const auto known = builds.list().value();
  const auto rejected = std::ranges::find(known, "2026-08-20", &storage::BuildRow::name);
  REQUIRE(rejected != known.end());
  CHECK(rejected->state == storage::BuildState::rejected);
  CHECK_THAT(rejected->reason, Catch::Contains("invalid build-hash"));
}
