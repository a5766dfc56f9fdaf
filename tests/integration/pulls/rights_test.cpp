// Who may have a pull request built, and which commit: in doubt none.
#include <catch2/catch.hpp>

#include "pulls_fixture.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

constexpr const char* kBefore = "2026-08-16T01:00:00Z";
constexpr const char* kAfter = "2026-08-16T05:00:00Z";

/// That nothing was built, and the pull request says why.
void require_refused(PullsFixture& fixture, storage::Id request, const std::string& why) {
  CHECK_THAT(fixture.carry_out(request), Contains(why));
  CHECK_THAT(fixture.comment(), Contains(why));
  CHECK(storage::BuildStore(fixture.database()).list().value().empty());
}

}  // namespace

TEST_CASE("without a sandbox no head is built") {
  PullsFixture fixture;
  fixture.push("# change", kBefore);
  fixture.heads.emplace(fixture.config, *fixture.runners, *fixture.processes,
                        pulls::HeadBuilds::Settings{.kit_sources = "/nowhere",
                                                    .sandbox = {},
                                                    .checkout = {},
                                                    .runners = fixture.runners.get()});
  require_refused(fixture, fixture.ask({}).id, "there is no sandbox");
}

TEST_CASE("who may not write has nothing built") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  fixture.push("# change", kBefore);
  fixture.github.permit("eve", "read");
  require_refused(fixture, fixture.ask({.login = "eve"}).id, "may not write to");
  require_refused(fixture, fixture.ask({.head = "1234567", .login = "nobody"}).id,
                  "may not write to");
}

TEST_CASE("a right that was lost since the request began ends it") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto head = fixture.push("# change", kBefore);
  fixture.github.permit("ada", "write");
  const auto request = fixture.ask({.login = "ada"});
  // It had begun when the service stopped.
  storage::RequestStore requests(fixture.database());
  REQUIRE(requests.note(request.id, nlohmann::json{{"head", head}, {"base", ""}}.dump()));
  fixture.github.permit("ada", "read");
  require_refused(fixture, request.id, "may not write to");
}

TEST_CASE("a head that was pushed after the request is not built") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  fixture.push("# reviewed", kBefore);
  const auto request = fixture.ask({});
  fixture.push("# something else", kAfter);  // a forced push: the list still has both
  require_refused(fixture, request.id, "was pushed after this was asked for");
}

TEST_CASE("a head is not built where GitHub does not say when it was pushed") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto head = fixture.push("# change", kBefore);
  fixture.github.set_pull(
      17, {.head = head, .head_repository = "", .updated_at = kAfter});  // its fork is gone
  require_refused(fixture, fixture.ask({}).id, "GitHub does not say when");
}

TEST_CASE("a push that GitHub does not list yet is not taken for an earlier one of that commit") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto other = fixture.push("# something else", kBefore);
  fixture.push("# reviewed", kBefore);
  const auto request = fixture.ask({});
  // Pushed back after the request: the list has that commit from before alone.
  fixture.github.set_pull(
      17, {.head = other, .head_repository = kFork, .updated_at = "2027-01-01T00:00:00Z"});
  require_refused(fixture, request.id, "GitHub does not say when");
}

TEST_CASE("a short name counts for what was there when it was written, and for one commit alone") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto reviewed = fixture.push("time dlrm cpu-train 1.5", kBefore);
  const auto name = reviewed.substr(0, 7);
  const auto alike = name + std::string(33, '0');  // somebody tried until it began so
  fixture.github.add_push({kFork, "change", alike, kAfter});
  fixture.github.set_pull(
      17, {.head = alike, .head_repository = kFork, .updated_at = "2027-01-01T00:00:00Z"});
  require_refused(fixture, fixture.ask({.head = name}).id, "several commits begin like");
  CHECK(fixture.carry_out(fixture.ask({.head = reviewed}).id) == "");
}

TEST_CASE("a commit that came after the request is built by its whole name alone") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto head = fixture.push("# change", kAfter);
  require_refused(fixture, fixture.ask({.head = head.substr(0, 39)}).id,
                  "was not there when this was asked for");
  CHECK(fixture.carry_out(fixture.ask({.head = head}).id) == "");
}

TEST_CASE("a commit that is named is built although another one was pushed over it") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto reviewed = fixture.push("time dlrm cpu-train 1.5", kBefore);
  const auto request = fixture.ask({.head = reviewed.substr(0, 10)});
  fixture.push("# something else", kAfter);
  CHECK(fixture.carry_out(request.id) == "");
  const auto row = storage::ComparisonStore(fixture.database()).get(1).value();
  const auto build = storage::BuildStore(fixture.database()).get(row.candidate).value();
  CHECK(build.embedded_commit == reviewed);
}

TEST_CASE("a commit that never was the head of the pull request is not built for it") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  fixture.push("# change", kBefore);
  const auto trunk = fixture.day.commits().front();
  require_refused(fixture, fixture.ask({.head = trunk}).id, "neither is nor was the head");
}

TEST_CASE("a pull request that is closed, or against another branch, is refused") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  const auto head = fixture.push("# change", kBefore);
  fixture.github.set_pull(17, {.head = head, .head_repository = kFork, .state = "closed"});
  require_refused(fixture, fixture.ask({}).id, "is not open");
}

TEST_CASE("while GitHub cannot be asked, a request waits and nothing is said") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  fixture.push("# change", kBefore);
  fixture.github.permit("ada", "write");
  const auto request = fixture.ask({.login = "ada"});
  fixture.github.lose_answer_to("GET");
  auto parts = fixture.parts();
  const auto row = storage::RequestStore(fixture.database()).get(request.id).value();
  const auto tried = pulls::carry_out(parts, row, {});
  REQUIRE_FALSE(tried);
  CHECK(tried.error().code == ErrorCode::unavailable);
  CHECK(fixture.messages().empty());
}
