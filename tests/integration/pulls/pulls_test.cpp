// A pull request, from what is asked for to what is said about it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "pulls_fixture.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::OutboxKind;

namespace fs = std::filesystem;

namespace {

constexpr const char* kBefore = "2026-08-16T01:00:00Z";
constexpr const char* kSlower = "time dlrm cpu-train 1.5";

void deliver(PullsFixture& fixture) {
  storage::OutboxStore outbox(fixture.database());
  auto settings = fixture.parts().github().value();
  settings.write_interval = std::chrono::milliseconds(0);
  github::OutboxSender sender(outbox, *fixture.http, fixture.service->services().clock, settings);
  const auto sent = sender.deliver_due({});
  if (!sent) FAIL(sent.error().text());
  CHECK(sent->problem.empty());
}

}  // namespace

TEST_CASE("a slower pull request is compared, and its comment says so in a neutral voice") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto head = fixture.push(kSlower, kBefore);
  fixture.github.permit("ada", "write");
  const auto request = fixture.ask({.login = "ada"});
  REQUIRE(fixture.carry_out(request.id).empty());

  const auto comparisons = storage::ComparisonStore(fixture.database()).list(10).value();
  REQUIRE(comparisons.size() == 1);
  CHECK(comparisons[0].purpose == storage::Purpose::pull_request);
  CHECK(comparisons[0].state == storage::ComparisonState::reported);
  CHECK_FALSE(comparisons[0].opens_incidents);
  CHECK(storage::IncidentStore(fixture.database()).list(10).value().empty());
  CHECK(storage::BisectionStore(fixture.database()).list(10).value().empty());
  CHECK_THAT(fixture.comment(), Contains("1 series regressed") && Contains("dlrm cpu-train time") &&
                                    Contains("https://perf.example/comparisons/1"));

  const auto build = storage::BuildStore(fixture.database()).get(comparisons[0].candidate).value();
  CHECK(build.origin == storage::BuildOrigin::pull);
  CHECK_THAT(build.folder, Contains("/pulls/commits/"));
  const auto base = storage::BuildStore(fixture.database()).get(*comparisons[0].baseline).value();
  CHECK(base.origin == storage::BuildOrigin::commit);
  CHECK(base.trunk_commit == fixture.day.commits().back());
  CHECK_THAT(base.folder, !Contains("/builds/pulls/"));

  deliver(fixture);
  const auto statuses = fixture.github.statuses(head);
  REQUIRE(statuses.size() == 2);
  CHECK(statuses[0].at("state") == "pending");
  CHECK(statuses[1].at("state") == "success");
  CHECK(fixture.github.comments(17).size() == 1);
}

TEST_CASE("with an App the head has one check run, which ends neutral or in success") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  const_cast<config::Config&>(fixture.service->services().config).github.app_id = 12345;
  fixture.push("# harmless", kBefore);
  const auto request = fixture.ask({});
  REQUIRE(fixture.carry_out(request.id).empty());
  deliver(fixture);
  const auto checks = fixture.github.checks();
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].body.at("conclusion") == "success");
  CHECK(checks[0].body.at("name") == "torchwatch/pull");
}

TEST_CASE("a request that was broken off continues with its head and its comparison") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto head = fixture.push(kSlower, kBefore);
  const auto request = fixture.ask({});
  auto parts = fixture.parts();
  REQUIRE(pulls::carry_out(parts, request, {}));
  const auto count = fixture.messages().size();
  // The service died before it stored the end; meanwhile somebody pushed.
  auto row = storage::RequestStore(fixture.database()).get(request.id).value();
  fixture.push("# pushed later", "2026-12-01T00:00:00Z");
  const auto again = pulls::carry_out(parts, row, {});
  if (!again) FAIL(again.error().text());
  CHECK_THAT(*again, Contains(head));
  CHECK(storage::ComparisonStore(fixture.database()).list(10).value().size() == 1);
  CHECK(fixture.messages().size() == count);
}

TEST_CASE("a head that does not build is said so, and leaves no comparison behind") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  fixture.push("unbuildable", kBefore);
  const auto request = fixture.ask({});
  CHECK_THAT(fixture.carry_out(request.id), Contains("cannot be built"));
  CHECK_THAT(fixture.comment(), Contains("error: no such operator"));
  CHECK(storage::ComparisonStore(fixture.database()).list(10).value().empty());
}

TEST_CASE("builds of pull requests go when nobody has used them for long") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  fixture.push(kSlower, kBefore);
  REQUIRE(fixture.carry_out(fixture.ask({}).id).empty());
  const auto row = storage::ComparisonStore(fixture.database()).get(1).value();
  const auto build = storage::BuildStore(fixture.database()).get(row.candidate).value();
  const auto base = storage::BuildStore(fixture.database()).get(*row.baseline).value();
  const auto now = fs::file_time_type::clock::now();
  REQUIRE(fixture.heads->remove_older(now - std::chrono::hours(1)));
  CHECK(fs::exists(build.folder));
  REQUIRE(fixture.heads->remove_older(now + std::chrono::hours(1)));
  CHECK_FALSE(fs::exists(build.folder));
  CHECK(fs::exists(base.folder));
}
