// Which open incident a change belongs to, and when an incident is over.
#include <algorithm>
#include <catch2/catch.hpp>

#include "nightlies.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/report/recheck.hpp"

using namespace torchwatch;
using storage::IncidentState;
using storage::Purpose;
using test::kQuiet;
using test::Nightlies;

namespace {

constexpr const char* kSlow = "noise 0.003\ntime dlrm cpu-train 1.5";

void without_drift(config::Config& config) {
  config.detect.drift_every = 0;
}

storage::IncidentRow incident(Nightlies& service, storage::Id id) {
  return storage::IncidentStore(service.database()).get(id).value();
}

std::vector<storage::Id> recurrences(Nightlies& service, storage::Id incident) {
  return storage::IncidentStore(service.database()).recurrences_of(incident).value();
}

void compare_again(Nightlies& service, const storage::ComparisonRow& comparison) {
  auto& services = service.services();
  const auto again = nightly::open_requested_comparison(services, comparison.candidate,
                                                        *comparison.baseline, true);
  REQUIRE(again);
  REQUIRE(nightly::carry_out_comparison(services, *again, {}));
}

}  // namespace

TEST_CASE("a further change of a series whose incident is open is an incident of its own") {
  Nightlies service("noise 0.003", kSlow, without_drift);
  REQUIRE(service.incidents().size() == 1);
  service.next(std::string(kSlow) + "\ntime dlrm cpu-train 1.3");
  REQUIRE(service.incidents().size() == 2);
  const auto first = incident(service, 1);
  const auto second = incident(service, 2);
  CHECK(first.state == IncidentState::open);
  CHECK(recurrences(service, first.id).empty());
  CHECK(second.series[0].series == first.series[0].series);
  CHECK(second.series[0].ratio == Approx(1.3).epsilon(0.02));
  CHECK(second.key != first.key);
  CHECK(second.bisection != first.bisection);

  service.next(std::string(kSlow) + "\n# the second is undone");
  CHECK(incident(service, 1).state == IncidentState::open);
  CHECK(incident(service, 2).state == IncidentState::closed);
}

TEST_CASE("the same builds compared again open no second incident of what is at the gate") {
  Nightlies service("noise 0.003", kSlow, without_drift);
  const auto comparison = service.comparisons(Purpose::nightly).front();
  service.surround(1, std::string(kSlow) + "\ntime dlrm cpu-infer 1.2");
  compare_again(service, comparison);
  CHECK(service.incidents().size() == 1);
  CHECK(recurrences(service, 1).size() == 1);
}

TEST_CASE("a comparison over several nightlies opens an incident of what no open one has") {
  Nightlies service("noise 0.003", kSlow, [](config::Config& config) {
    without_drift(config);
    config.suite.configurations = {{Device::cpu, Mode::train}};
  });
  service.next(std::string(kSlow) + "\ntime dlrm cpu-infer 1.2");
  REQUIRE(service.incidents().size() == 1);
  auto config = service.services().config;
  config.suite.configurations = {{Device::cpu, Mode::train}, {Device::cpu, Mode::infer}};
  service.reopen(config);
  auto over_both = service.comparisons(Purpose::nightly).front();
  over_both.baseline = storage::ComparisonStore(service.database())
                           .get(incident(service, 1).comparison)
                           .value()
                           .baseline;
  compare_again(service, over_both);
  REQUIRE(service.incidents().size() == 2);
  CHECK(recurrences(service, 1).size() == 1);
  const auto second = incident(service, 2);
  REQUIRE(second.series.size() == 1);
  CHECK(second.series[0].series.benchmark.configuration.mode == Mode::infer);
}

TEST_CASE("a change of which more than half may be left is not over") {
  Nightlies service("noise 0.003", "noise 0.003\ntime dlrm cpu-train 1.10", without_drift);
  REQUIRE(service.incidents().size() == 1);
  service.next("noise 0.003\ntime dlrm cpu-train 1.055");
  CHECK(incident(service, 1).state == IncidentState::open);
  service.next("noise 0.003\ntime dlrm cpu-train 1.02");
  CHECK(incident(service, 1).state == IncidentState::closed);
}

TEST_CASE("what was lost and comes back slower is over, and an incident of its time is opened") {
  Nightlies service("noise 0.003", "noise 0.003\ncrash dlrm cpu-train", without_drift);
  REQUIRE(service.incidents().size() == 1);
  CHECK(incident(service, 1).kind == IncidentKind::lost);
  service.next("noise 0.003\ncrash dlrm cpu-train\n# still");
  REQUIRE(service.incidents().size() == 1);
  CHECK(incident(service, 1).state == IncidentState::open);
  service.next(kSlow);
  CHECK(incident(service, 1).state == IncidentState::closed);
  REQUIRE(service.incidents().size() == 2);
  const auto slower = incident(service, 2);
  CHECK(slower.kind == IncidentKind::regression);
  CHECK(slower.series[0].ratio == Approx(1.5).epsilon(0.02));
  CHECK(slower.bisection);
}

TEST_CASE("a benchmark that has left the suite is not measured again for its incident") {
  Nightlies service("noise 0.003", "noise 0.003\ntime soft_actor_critic cpu-train 1.5",
                    [](config::Config& config) {
                      without_drift(config);
                      config.suite.workloads = {"dlrm", "soft_actor_critic"};
                    });
  REQUIRE(service.incidents().size() == 1);
  auto config = service.services().config;
  config.suite.workloads = {"dlrm"};
  service.reopen(config);
  service.next("noise 0.003\ntime soft_actor_critic cpu-train 1.5\n# third");
  CHECK(service.comparisons(Purpose::recheck).empty());
  CHECK(incident(service, 1).state == IncidentState::open);
}

TEST_CASE("a drift comparison that was due at a nightly without news is made after the next") {
  Nightlies service(kQuiet, "noise 0.01\n# 1", [](config::Config& config) {
    config.suite.configurations = {{Device::cpu, Mode::train}};
    config.detect.drift_every = 2;
  });
  service.next("noise 0.01\n# 2");
  service.next("noise 0.01\n# 2");
  CHECK(service.comparisons(Purpose::drift).empty());
  service.next("noise 0.01\n# 4");
  REQUIRE(service.comparisons(Purpose::drift).size() == 1);
  CHECK(service.build_name(service.comparisons(Purpose::drift).front().candidate) == "2026-08-20");
}
