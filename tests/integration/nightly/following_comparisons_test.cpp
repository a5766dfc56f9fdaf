// Tests what follows nightlies: rechecks, drift comparisons, environments that change.
#include <algorithm>
#include <catch2/catch.hpp>

#include "nightlies.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/report/recheck.hpp"
#include "torchwatch/storage/verdicts.hpp"
#include "torchwatch/triage/comparison_summary.hpp"
#include "torchwatch/triage/decisions.hpp"

using namespace torchwatch;
using storage::ComparisonRow;
using storage::ComparisonState;
using storage::Purpose;
using test::kQuiet;
using test::Nightlies;

namespace {

void one_benchmark(config::Config& config) {
  config.suite.configurations = {{Device::cpu, Mode::train}};
}

/// Returns the behaviour after `steps` steps of 2.5 %.
std::string crept(int steps) {
  std::string text = kQuiet;
  for (int i = 0; i < steps; ++i) text += "\ntime dlrm cpu-train 1.025";
  return text + "\n# step " + std::to_string(steps);
}

Status accept(Nightlies& service, storage::Id incident, const std::string& by,
              const std::string& reason) {
  return triage::decide_incident(service.services(), incident, storage::DecisionKind::accepted,
                                 {by, reason});
}

void check_none_regressed_alone(Nightlies& service) {
  for (const auto& comparison : service.comparisons(Purpose::nightly)) {
    if (!comparison.baseline) continue;  // the oldest nightly, which has no verdict
    const auto verdicts = storage::verdicts_of(service.database(), comparison.id).value();
    CHECK_FALSE(verdicts.empty());
    for (const auto& verdict : verdicts) CHECK(verdict.verdict != Verdict::regressed);
  }
}

}  // namespace

TEST_CASE(
    "steps too small for one comparison are caught against an older nightly, measured again") {
  Nightlies service(crept(0), crept(1), [](config::Config& config) {
    one_benchmark(config);
    config.detect.drift_every = 1;
  });
  service.next(crept(2));
  REQUIRE(service.incidents().empty());
  service.next(crept(3));
  const auto incidents = service.incidents();
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].kind == IncidentKind::regression);
  CHECK_THAT(incidents[0].title, Catch::Contains("2026-08-16 to 2026-08-19"));
  const auto found_by =
      storage::ComparisonStore(service.database()).get(incidents[0].comparison).value();
  CHECK(found_by.purpose == Purpose::drift);
  CHECK(service.build_name(*found_by.baseline) == "2026-08-16");
  CHECK(found_by.nightlies_back == 3);
  check_none_regressed_alone(service);
  const auto message =
      storage::OutboxStore(service.database()).of_incident(incidents[0].id).value().at(0);
  CHECK_THAT(message.body, Catch::Contains("an older nightly, 3 before"));

  SECTION("while it is open, earlier steps are not reported again") {
    service.next(crept(4));
    CHECK(service.incidents().size() == 1);
  }
  SECTION("once it is accepted, later nightlies are compared with the one that has it") {
    REQUIRE(accept(service, incidents[0].id, "ada", "the price"));
    service.next(crept(4));
    service.next(crept(5));
    REQUIRE(service.incidents().size() == 1);
    service.next(crept(6));
    const auto later = service.incidents();
    REQUIRE(later.size() == 2);
    CHECK_THAT(later[0].title, Catch::Contains("2026-08-19 to 2026-08-22"));
  }
  SECTION("it is reported again if it was closed as fixed and is still there") {
    REQUIRE(storage::IncidentStore(service.database()).close(incidents[0].id, {"ada", "", 1}));
    service.next(crept(3) + "\n# more");
    CHECK(service.incidents().size() == 2);
  }
}

TEST_CASE("older nightlies are measured again as often as configured") {
  Nightlies service(kQuiet, "noise 0.01\n# 1", [](config::Config& config) {
    one_benchmark(config);
    config.detect.drift_every = 2;
    config.detect.drift_span = 2;
  });
  for (int i = 2; i < 6; ++i) service.next("noise 0.01\n# " + std::to_string(i));
  std::vector<std::string> pairs;
  for (const auto& comparison : service.comparisons(Purpose::drift)) {
    pairs.push_back(service.build_name(*comparison.baseline) + " " +
                    service.build_name(comparison.candidate));
  }
  CHECK(pairs == std::vector<std::string>{"2026-08-19 2026-08-21", "2026-08-17 2026-08-19"});
}

TEST_CASE("the oldest nightly on disk takes the place of one that was removed") {
  Nightlies service(crept(0), crept(1), [](config::Config& config) {
    one_benchmark(config);
    config.detect.drift_every = 4;
  });
  service.next(crept(2));
  std::filesystem::remove_all(service.services().config.channel.path / "2026-08-16");
  service.next(crept(3));
  const auto comparisons = service.comparisons(Purpose::drift);
  REQUIRE(comparisons.size() == 1);
  CHECK(service.build_name(*comparisons[0].baseline) == "2026-08-17");
}

TEST_CASE("a machine that changed is reported as such and opens no incident") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  const std::string slower = "noise 0.01\ntime * * 1.5\nfact cpu_governor powersave";
  service.surround(1, slower);
  service.next(slower);
  CHECK(service.incidents().empty());
  const auto comparison = service.comparisons(Purpose::nightly).front();
  const auto summary = triage::parse_summary(comparison.summary_json).value();
  REQUIRE(summary.machine_shifts.size() == 1);
  CHECK(summary.machine_shifts[0].ratio == Approx(1.5).epsilon(0.05));
  CHECK(summary.machine_changes ==
        std::vector<std::string>{"cpu_governor: (nothing) -> powersave"});
  triage::ComparisonSummary nothing_else;
  nothing_else.is_unconfined = true;
  CHECK(triage::parse_summary(service.comparisons(Purpose::nightly).at(1).summary_json).value() ==
        nothing_else);
}

TEST_CASE("a change of the code together with one of the machine is an incident that names both") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  service.surround(1, "noise 0.01\ntime * * 1.5");
  service.next("noise 0.01\ntime * * 1.5\ntime dlrm cpu-train 1.3");
  const auto incidents = service.incidents();
  REQUIRE(incidents.size() == 1);
  REQUIRE(incidents[0].series.size() == 1);
  CHECK(incidents[0].series[0].ratio == Approx(1.3).epsilon(0.05));
  const auto body =
      storage::OutboxStore(service.database()).of_incident(incidents[0].id).value().at(0).body;
  CHECK_THAT(body, Catch::Contains("The environment is not that of the nightly before") &&
                       Catch::Contains("The runs were not confined: no sandbox kept"));
}

TEST_CASE("a series that suddenly runs with neither build is lost until it runs again") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  service.surround(1, "noise 0.01\ncrash dlrm cpu-train");
  service.next("noise 0.01\ncrash dlrm cpu-train");
  REQUIRE(service.incidents().size() == 1);
  CHECK(service.incidents()[0].kind == IncidentKind::lost);
  const auto comparison = service.comparisons(Purpose::nightly).front();
  const auto verdicts = storage::verdicts_of(service.database(), comparison.id).value();
  CHECK(std::ranges::any_of(verdicts, [](const auto& verdict) {
    return verdict.reason.find("runs with neither build") != std::string::npos;
  }));
  const auto incident = service.incidents()[0];
  CHECK_THAT(incident.title, Catch::StartsWith("[lost] environment, no result: dlrm"));
  const auto body =
      storage::OutboxStore(service.database()).of_incident(incident.id).value().at(0).body;
  CHECK_THAT(body, Catch::Contains("look at this machine, not at the build") &&
                       Catch::Contains("torchwatch incident retest 1") &&
                       Catch::Contains("killed by signal 11 (SIGSEGV)") &&
                       !Catch::Contains("incident accept"));

  service.surround(2, "noise 0.01\ncrash dlrm cpu-train");
  service.next("noise 0.01\ncrash dlrm cpu-train\n# fourth");
  CHECK(service.incidents().size() == 1);

  service.surround(1, kQuiet);
  service.surround(3, kQuiet);
  service.next(std::string(kQuiet) + "\n# fifth");
  REQUIRE(service.incidents().size() == 1);
  const auto closed = service.incidents()[0];
  CHECK(closed.state == storage::IncidentState::closed);
  REQUIRE(closed.decisions.size() == 1);
  CHECK(closed.decisions[0].decision.by.empty());
  CHECK_THAT(closed.decisions[0].decision.reason, Catch::Contains("a recheck, found nothing"));
  const auto rechecks = report::rechecks_of(service.database(), closed).value();
  REQUIRE(rechecks.size() == 2);
  CHECK(rechecks[0].outcome == report::RecheckOutcome::gone);
  CHECK(rechecks[1].outcome == report::RecheckOutcome::still_there);
}

TEST_CASE("a benchmark that is taken out of the suite is left out, not lost") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  auto config = service.services().config;
  config.suite.configurations = {{Device::cpu, Mode::infer}};
  service.reopen(config);
  service.next("noise 0.01\n# third");
  CHECK(service.incidents().empty());
  const auto summary =
      triage::parse_summary(service.comparisons(Purpose::nightly).front().summary_json).value();
  REQUIRE(summary.left_out.size() == 1);
  CHECK(to_string(summary.left_out[0]) == "dlrm cpu-train");
}

TEST_CASE("an accepted change is closed in the tracker and neither measured nor reported again") {
  Nightlies service(kQuiet, "noise 0.01\ntime dlrm cpu-train 1.5");
  const auto incident = service.incidents().at(0);
  CHECK(accept(service, incident.id, " ", "why").error().code == ErrorCode::invalid);
  CHECK(accept(service, incident.id, "ada", "").error().code == ErrorCode::invalid);
  REQUIRE(accept(service, incident.id, "ada", "it is `right` now"));
  CHECK(accept(service, incident.id, "bob", "again").error().code == ErrorCode::conflict);
  service.next("noise 0.01\ntime dlrm cpu-train 1.5\n# third");
  REQUIRE(service.incidents().size() == 1);
  CHECK(service.comparisons(Purpose::recheck).empty());
  CHECK(service.comparisons(Purpose::drift).empty());
  const auto messages = storage::OutboxStore(service.database()).of_incident(incident.id).value();
  REQUIRE_FALSE(messages.empty());
  CHECK(messages.back().kind == storage::OutboxKind::close);
  CHECK_THAT(messages.back().body, Catch::StartsWith("Accepted by `ada`: ``it is `right` now``"));
}

TEST_CASE("an incident can be neither accepted nor closed before its comparison has ended") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  storage::ComparisonStore comparisons(service.database());
  const auto done = service.comparisons(Purpose::nightly).front();
  storage::IncidentRow row;
  row.comparison =
      comparisons.open({Purpose::requested, done.candidate, done.baseline}, 1).value().id;
  row.key = "regression-0";
  const auto incident = storage::IncidentStore(service.database()).open(row).value();
  const auto refused = accept(service, incident.id, "ada", "why");
  CHECK(refused.error().code == ErrorCode::conflict);
  CHECK(triage::decide_incident(service.services(), incident.id, storage::DecisionKind::closed,
                                {"ada", ""})
            .error()
            .code == ErrorCode::conflict);
  CHECK(service.incidents()[0].state == storage::IncidentState::open);
}

TEST_CASE("a series that got better is a verdict and opens no incident") {
  Nightlies service(kQuiet, "noise 0.01\ntime dlrm cpu-train 0.7");
  CHECK(service.incidents().empty());
  const auto comparison = service.comparisons(Purpose::nightly).front();
  const auto verdicts = storage::verdicts_of(service.database(), comparison.id).value();
  CHECK(std::ranges::count(verdicts, Verdict::improved, &storage::VerdictRow::verdict) == 1);
}

TEST_CASE("a nightly whose predecessors were removed keeps its verdict") {
  Nightlies service(kQuiet, "noise 0.01\n# second");
  std::filesystem::remove_all(service.services().config.channel.path / "2026-08-16");
  service.next("noise 0.01\n# third");
  CHECK(service.comparisons(Purpose::nightly).size() == 3);
}
