// A pull request that cannot be compared never keeps the one behind it from its comment: every
// error and every refusal at each step; what is about GitHub, a token or the machine waits.
#include <algorithm>
#include <catch2/catch.hpp>

#include "fake_http_client.hpp"
#include "planted_fault.hpp"
#include "pulls_fixture.hpp"
#include "refusals.hpp"
#include "torchwatch/nightly/attend.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using nightly::Consequence;
using storage::RequestState;

namespace {

constexpr const char* kBefore = "2026-08-16T01:00:00Z";

/// Works on one request as the daemon does, and returns the state that it is in then.
RequestState attend(PullsFixture& fixture, pulls::PullParts& parts, storage::Id id) {
  storage::RequestStore requests(fixture.database());
  const auto row = requests.get(id).value();
  const nightly::WorkItem item{
      .key = {storage::ItemKind::request, std::to_string(id)},
      .work = [&]() -> Status {
        TW_TRY(const auto result, pulls::carry_out(parts, row, {}));
        return requests.answer(id, RequestState::done, result);
      },
      .end = [&](nightly::Failure failure, const std::string& reason) -> Status {
        TW_TRY_VOID(pulls::conclude(parts, requests.get(id).value(), reason));
        const bool is_refused = failure == nightly::Failure::refused;
        return requests.answer(id, is_refused ? RequestState::refused : RequestState::failed, "{}");
      }};
  REQUIRE(nightly::attend(fixture.service->services(), item));
  return requests.get(id).value().state;
}

/// What its own work fails is tried three times in all.
RequestState attend_to_end(PullsFixture& fixture, pulls::PullParts& parts, storage::Id id) {
  auto state = RequestState::pending;
  for (int i = 0; i < 3 && state == RequestState::pending; ++i) state = attend(fixture, parts, id);
  return state;
}

/// GitHub says so of what is not there, which is an answer.
bool is_answer(const test::Refusal& refusal) {
  const auto* status = std::get_if<int>(&refusal);
  return status != nullptr && *status == 404;
}

RequestState expected_of(ErrorCode code) {
  switch (nightly::consequence_of(code)) {
    case Consequence::ends:
      return RequestState::refused;
    case Consequence::counts:
      return RequestState::failed;
    default:
      return RequestState::pending;
  }
}

}  // namespace

TEST_CASE("whatever GitHub answers about a pull request, the one behind it has its comment") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  fixture.push("# change", kBefore);
  fixture.github.permit("ada", "write");
  std::string refused_part;
  test::Refusal refusal = 500;
  test::FakeHttpClient client([&](const platform::HttpRequest& request) {
    const auto path = request.url.substr(0, request.url.find('?'));
    const bool is_met = !refused_part.empty() && path.ends_with(refused_part);
    return is_met ? test::refused(refusal) : fixture.http->send(request);
  });
  const auto of = fixture.parts();
  pulls::PullParts parts{
      .services = of.services, .heads = of.heads, .http = client, .github = of.github};
  storage::Id waiting = 0;
  for (const auto* part : {"/permission", "/pulls/17", "/activity"}) {
    for (const auto& each : test::every_refusal()) {
      INFO(part << " meets " << test::name_of(each));
      refused_part = part;
      refusal = each;
      const auto request = fixture.ask({.login = "ada"}).id;
      const auto state = attend_to_end(fixture, parts, request);
      CHECK(state == (is_answer(each) ? RequestState::refused : RequestState::pending));
      if (state == RequestState::pending) waiting = request;
    }
  }
  CHECK(storage::BuildStore(fixture.database()).list().value().empty());
  refused_part.clear();
  REQUIRE(waiting != 0);
  CHECK(attend(fixture, parts, waiting) == RequestState::done);
}

TEST_CASE("a token that cannot be had makes a pull request wait, whatever is wrong with it") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  fixture.push("# change", kBefore);
  const auto request = fixture.ask({}).id;
  auto parts = fixture.parts();
  const auto github = parts.github;
  for (const auto code : test::kItemErrors) {
    INFO(to_string(code));
    parts.github = [code]() -> Result<github::GithubSettings> { return fail(code, "planted"); };
    CHECK(attend(fixture, parts, request) == RequestState::pending);
  }
  parts.github = github;
  CHECK(attend(fixture, parts, request) == RequestState::done);
}

TEST_CASE("whatever fails while a pull request is measured, the one behind it has its comment") {
  PullsFixture fixture;
  if (!fixture.has_sandbox) return;
  int count = 0;
  for (const auto step : {test::FaultStep::kit, test::FaultStep::run}) {
    for (const auto code : test::kItemErrors) {
      INFO("step " << static_cast<int>(step) << ", " << to_string(code));
      test::PlantedFault fault{.step = step, .code = code, .times = 100, .build = ""};
      test::FaultyParts faulty(fixture.service->services(), fault,
                               fixture.service->services().clock);
      test::FaultyRunners runners(*fixture.runners, fault);
      pulls::HeadBuilds heads(fixture.config, runners, *fixture.processes,
                              {.kit_sources = "/nowhere",
                               .sandbox = fixture.sandbox,
                               .checkout =
                                   [&](const std::string& sha, const std::filesystem::path& to) {
                                     return bisect::check_out(fixture.folder.path() / "pytorch.git",
                                                              sha, to);
                                   },
                               .runners = &runners});
      const auto of = fixture.parts();
      pulls::PullParts parts{
          .services = faulty.services, .heads = &heads, .http = of.http, .github = of.github};
      fixture.push("# change " + std::to_string(++count), kBefore);
      const auto request = fixture.ask({}).id;
      const auto state = attend_to_end(fixture, parts, request);
      CHECK(state == expected_of(code));
      fault.times = 0;
      fixture.push("# change " + std::to_string(++count), kBefore);
      CHECK(attend(fixture, parts, fixture.ask({}).id) == RequestState::done);
      if (state == RequestState::pending) {
        CHECK(attend(fixture, parts, request) == RequestState::done);
      }
    }
  }
}
