// What follows nightlies: the self-test, open incidents measured again, older nightlies measured
// again, surroundings that change.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/nightly/acceptance.hpp"
#include "torchwatch/nightly/night.hpp"
#include "torchwatch/nightly/night_summary.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

using namespace torchwatch;
using storage::NightKind;
using storage::NightRow;
using storage::NightState;

namespace {

constexpr const char* kQuiet = "noise 0.01";

/// Nightlies that come one after the other, each of a commit of its own, and a service that works
/// off what is due after each.
class Nightlies {
 public:
  /// The first two nightlies, `first` and `second` saying how they behave.
  Nightlies(
      const std::string& first, const std::string& second,
      const std::function<void(config::Config&)>& change = [](auto&) {})
      : day_(folder_.path(), commits(first)) {
    day_.publish("2026-08-16", day_.commits()[0], first);
    day_.publish("2026-08-17", day_.commits()[1], second);
    auto config = day_.config();
    config.suite.workloads = {"dlrm"};
    change(config);
    reopen(config);
    carry_out();
  }

  void reopen(const config::Config& config) {
    const auto copy = config;
    service_.reset();
    auto opened = test::ScriptedService::open(copy);
    if (!opened) FAIL(opened.error().message);
    service_ = std::move(*opened);
  }

  /// The next nightly, and everything that is due then.
  void next(const std::string& behaviour) {
    day_.publish(name(published_), day_.commits()[published_], behaviour);
    ++published_;
    carry_out();
  }

  /// The same libraries as before, in surroundings that make them behave like this.
  void surround(std::size_t nightly, const std::string& behaviour) const {
    std::ofstream(folder_.path() / "nightlies" / name(nightly) / "behaviour") << behaviour << '\n';
  }

  nightly::Workshop& workshop() { return service_->workshop(); }
  storage::Database& database() { return workshop().database; }
  std::vector<storage::IncidentRow> incidents() {
    return storage::IncidentStore(database()).list(100).value();
  }
  std::vector<NightRow> nights(NightKind kind) {
    auto rows = storage::NightStore(database()).list(100).value();
    std::erase_if(rows, [&](const NightRow& night) { return night.kind != kind; });
    return rows;
  }
  std::string build_name(storage::Id build) {
    return storage::BuildStore(database()).get(build).value().name;
  }

 private:
  static constexpr std::size_t kCommits = 10;

  static std::vector<test::ScriptedCommit> commits(const std::string& first) {
    std::vector<test::ScriptedCommit> commits{{"One", first}};
    while (commits.size() < kCommits) {
      commits.push_back({"Commit " + std::to_string(commits.size()), "# another"});
    }
    return commits;
  }
  static std::string name(std::size_t nightly) { return "2026-08-" + std::to_string(16 + nightly); }
  void carry_out() {
    const auto nights = service_->carry_out_due_nights();
    if (!nights) FAIL(nights.error().message);
    REQUIRE(storage::NightStore(database()).unfinished().value().empty());
    REQUIRE(database().check_invariants().value().empty());
  }

  test::TemporaryFolder folder_;
  test::ScriptedDay day_;
  std::unique_ptr<test::ScriptedService> service_;
  std::size_t published_ = 2;
};

void one_cell(config::Config& config) {
  config.suite.configurations = {{Device::cpu, Mode::train}};
}

/// So many steps of 2.5 %.
std::string crept(int steps) {
  std::string text = kQuiet;
  for (int i = 0; i < steps; ++i) text += "\ntime dlrm cpu-train 1.025";
  return text + "\n# step " + std::to_string(steps);
}

}  // namespace

TEST_CASE("after each nightly one cell compares the new build with itself, cells taking turns") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  service.next("noise 0.01\n# third");
  const auto tests = service.nights(NightKind::self_test);
  REQUIRE(tests.size() == 2);
  std::set<std::string> cells;
  for (const auto& test : tests) {
    CHECK(test.state == NightState::reported);
    CHECK(test.baseline == test.candidate);
    const auto plan = nightly::parse_plan(test.plan_json).value();
    REQUIRE(plan.cells.size() == 1);
    CHECK(plan.of_cells == 2);
    cells.insert(to_string(plan.cells[0]));
  }
  CHECK(cells.size() == 2);
  const auto tallies = storage::NightStore(service.database()).self_tests().value();
  CHECK(storage::sum_of(tallies).series == 12);  // a time, two peaks, three leaks each
  CHECK(storage::sum_of(tallies).regressed == 0);
  CHECK(service.incidents().empty());
}

TEST_CASE("a nightly with the libraries of the one before is tested against itself all the same") {
  Nightlies service(kQuiet, kQuiet);
  REQUIRE(service.nights(NightKind::nightly).front().reason.find("the same libraries") !=
          std::string::npos);
  const auto tests = service.nights(NightKind::self_test);
  REQUIRE(tests.size() == 1);
  CHECK(tests[0].state == NightState::reported);
}

TEST_CASE("a false alarm of a self-test is counted and is no incident") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  storage::NightStore nights(service.database());
  const auto test = service.nights(NightKind::self_test).at(0);
  const auto again = nights.opened(NightKind::self_test, test.candidate, test.candidate, 1).value();
  storage::VerdictRow wrong;
  wrong.night = again.id;
  wrong.target = {nightly::parse_plan(test.plan_json).value().cells[0], Metric::time};
  wrong.verdict = Verdict::regressed;
  REQUIRE(nights.verdict_reached(wrong));
  CHECK(storage::sum_of(nights.self_tests().value()).regressed == 1);
  CHECK(service.incidents().empty());
}

TEST_CASE("steps too small for one night are caught against an older nightly, measured again") {
  Nightlies service(crept(0), crept(1), [](config::Config& config) {
    one_cell(config);
    config.detect.creep_every = 1;
  });
  service.next(crept(2));
  REQUIRE(service.incidents().empty());
  service.next(crept(3));
  const auto incidents = service.incidents();
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].kind == IncidentKind::regression);
  CHECK_THAT(incidents[0].title, Catch::Contains("from 2026-08-16 to 2026-08-19"));
  const auto found_by = storage::NightStore(service.database()).get(incidents[0].night).value();
  CHECK(found_by.kind == NightKind::compare);
  CHECK(service.build_name(*found_by.baseline) == "2026-08-16");
  CHECK_THAT(found_by.reason, Catch::Contains("the nightly 3 before"));
  for (const auto& night : service.nights(NightKind::nightly)) {
    for (const auto& verdict :
         storage::NightStore(service.database()).verdicts_of(night.id).value()) {
      CHECK(verdict.verdict != Verdict::regressed);
    }
  }
  const auto message =
      storage::IncidentStore(service.database()).outbox_of(incidents[0].id).value().at(0);
  CHECK_THAT(message.body, Catch::Contains("an older nightly, 3 before"));

  SECTION("while it is open, what came before it is not told again") {
    service.next(crept(4));
    CHECK(service.incidents().size() == 1);
  }
  SECTION("once it is accepted, later nightlies are compared with the one that had it") {
    REQUIRE(nightly::accept_incident(service.workshop(), incidents[0].id, "ada", "the price"));
    service.next(crept(4));
    service.next(crept(5));
    REQUIRE(service.incidents().size() == 1);
    service.next(crept(6));
    const auto later = service.incidents();
    REQUIRE(later.size() == 2);
    CHECK_THAT(later[0].title, Catch::Contains("from 2026-08-19 to 2026-08-22"));
  }
  SECTION("closed as mended and still there, it is told again") {
    REQUIRE(storage::IncidentStore(service.database()).closed(incidents[0].id, 1));
    service.next(crept(3) + "\n# more");
    CHECK(service.incidents().size() == 2);
  }
}

TEST_CASE("older nightlies are measured again as often as is configured") {
  Nightlies service(kQuiet, "noise 0.01\n# 1", [](config::Config& config) {
    one_cell(config);
    config.detect.creep_every = 2;
    config.detect.creep_span = 2;
  });
  for (int i = 2; i < 6; ++i) service.next("noise 0.01\n# " + std::to_string(i));
  std::vector<std::string> pairs;
  for (const auto& night : service.nights(NightKind::compare)) {
    pairs.push_back(service.build_name(*night.baseline) + " " +
                    service.build_name(night.candidate));
  }
  CHECK(pairs == std::vector<std::string>{"2026-08-19 2026-08-21", "2026-08-17 2026-08-19"});
}

TEST_CASE("an older nightly that is gone is not waited for: the oldest at hand is taken") {
  Nightlies service(crept(0), crept(1), [](config::Config& config) {
    one_cell(config);
    config.detect.creep_every = 4;
  });
  service.next(crept(2));
  std::filesystem::remove_all(service.workshop().config.channel.path / "2026-08-16");
  service.next(crept(3));
  const auto comparisons = service.nights(NightKind::compare);
  REQUIRE(comparisons.size() == 1);
  CHECK(service.build_name(*comparisons[0].baseline) == "2026-08-17");
}

TEST_CASE("a machine that changed is told as such and is no incident") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  const std::string slower = "noise 0.01\ntime * * 1.5\nfact cpu_governor powersave";
  service.surround(1, slower);
  service.next(slower);
  CHECK(service.incidents().empty());
  const auto night = service.nights(NightKind::nightly).front();
  const auto summary = nightly::parse_summary(night.summary_json).value();
  REQUIRE(summary.machine_shifts.size() == 1);
  CHECK(summary.machine_shifts[0].ratio == Approx(1.5).epsilon(0.05));
  CHECK(summary.machine_changes ==
        std::vector<std::string>{"cpu_governor: (nothing) -> powersave"});
  CHECK(nightly::parse_summary(service.nights(NightKind::nightly).at(1).summary_json).value() ==
        nightly::NightSummary{});
}

TEST_CASE("a change of the code beside one of the machine is an incident that tells both") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  service.surround(1, "noise 0.01\ntime * * 1.5");
  service.next("noise 0.01\ntime * * 1.5\ntime dlrm cpu-train 1.3");
  const auto incidents = service.incidents();
  REQUIRE(incidents.size() == 1);
  REQUIRE(incidents[0].targets.size() == 1);
  CHECK(incidents[0].targets[0].ratio == Approx(1.3).epsilon(0.05));
  const auto body =
      storage::IncidentStore(service.database()).outbox_of(incidents[0].id).value().at(0).body;
  CHECK_THAT(body, Catch::Contains("The surroundings are not those of the night before"));
}

TEST_CASE("what suddenly runs with neither build is lost, and is found again") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  service.surround(1, "noise 0.01\ncrash dlrm cpu-train");
  service.next("noise 0.01\ncrash dlrm cpu-train");
  REQUIRE(service.incidents().size() == 1);
  CHECK(service.incidents()[0].kind == IncidentKind::lost);
  const auto night = service.nights(NightKind::nightly).front();
  const auto verdicts = storage::NightStore(service.database()).verdicts_of(night.id).value();
  CHECK(std::ranges::any_of(verdicts, [](const auto& verdict) {
    return verdict.reason.find("runs with neither build") != std::string::npos;
  }));

  service.surround(2, "noise 0.01\ncrash dlrm cpu-train");
  service.next("noise 0.01\ncrash dlrm cpu-train\n# fourth");
  CHECK(service.incidents().size() == 1);

  service.surround(1, kQuiet);
  service.surround(3, kQuiet);
  service.next(std::string(kQuiet) + "\n# fifth");
  REQUIRE(service.incidents().size() == 1);
  CHECK(service.incidents()[0].state == storage::IncidentState::closed);
}

TEST_CASE("a cell that is taken out of the suite is missed, not lost") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  auto config = service.workshop().config;
  config.suite.configurations = {{Device::cpu, Mode::infer}};
  service.reopen(config);
  service.next("noise 0.01\n# third");
  CHECK(service.incidents().empty());
  const auto summary =
      nightly::parse_summary(service.nights(NightKind::nightly).front().summary_json).value();
  REQUIRE(summary.left_out.size() == 1);
  CHECK(to_string(summary.left_out[0]) == "dlrm cpu-train");
}

TEST_CASE("an accepted change is closed in the tracker and neither measured nor told again") {
  Nightlies service(kQuiet, "noise 0.01\ntime dlrm cpu-train 1.5");
  const auto incident = service.incidents().at(0);
  CHECK(nightly::accept_incident(service.workshop(), incident.id, " ", "why").error().code ==
        ErrorCode::invalid);
  CHECK(nightly::accept_incident(service.workshop(), incident.id, "ada", "").error().code ==
        ErrorCode::invalid);
  REQUIRE(nightly::accept_incident(service.workshop(), incident.id, "ada", "it is `right` now"));
  CHECK(nightly::accept_incident(service.workshop(), incident.id, "bob", "again").error().code ==
        ErrorCode::conflict);
  service.next("noise 0.01\ntime dlrm cpu-train 1.5\n# third");
  REQUIRE(service.incidents().size() == 1);
  CHECK(service.nights(NightKind::compare).empty());
  const auto messages = storage::IncidentStore(service.database()).outbox_of(incident.id).value();
  REQUIRE(messages.size() == 2);
  CHECK(messages[1].kind == storage::OutboxKind::close);
  CHECK_THAT(messages[1].body, Catch::StartsWith("Accepted by `ada`: ``it is `right` now``"));
}

TEST_CASE("an incident whose night is still worked on cannot be accepted yet") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  storage::NightStore nights(service.database());
  const auto done = service.nights(NightKind::nightly).front();
  storage::IncidentRow row;
  row.night = nights.opened(NightKind::compare, done.candidate, done.baseline, 1).value().id;
  row.key = "regression-0";
  const auto incident = storage::IncidentStore(service.database()).opened(row).value();
  const auto refused = nightly::accept_incident(service.workshop(), incident.id, "ada", "why");
  CHECK(refused.error().code == ErrorCode::conflict);
  CHECK(service.incidents()[0].state == storage::IncidentState::open);
}

TEST_CASE("a series that got better is a verdict of its night and no incident") {
  Nightlies service(kQuiet, "noise 0.01\ntime dlrm cpu-train 0.7");
  CHECK(service.incidents().empty());
  const auto night = service.nights(NightKind::nightly).front();
  const auto verdicts = storage::NightStore(service.database()).verdicts_of(night.id).value();
  CHECK(std::ranges::count(verdicts, Verdict::improved, &storage::VerdictRow::verdict) == 1);
}

TEST_CASE("a nightly whose predecessors were removed keeps the verdict that it has") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  std::filesystem::remove_all(service.workshop().config.channel.path / "2026-08-16");
  service.next("noise 0.01\n# third");
  CHECK(service.nights(NightKind::nightly).size() == 3);
}
