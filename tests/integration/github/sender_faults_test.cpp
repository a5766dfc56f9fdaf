#include <catch2/catch.hpp>

#include "fake_http_client.hpp"
#include "outbox_fixture.hpp"
#include "torchwatch/github/github_api.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using test::Fault;

namespace {

constexpr WallMillis kMinute = 60'000;
/// After a write whose outcome is unknown.
constexpr WallMillis kSettling = 2 * kMinute;

constexpr const char* kAnyUser = R"({"login": "somebody", "id": 1, "type": "User"})";

Fault status(int code, std::multimap<std::string, std::string> headers = {}) {
  Fault fault;
  fault.status = code;
  fault.headers = std::move(headers);
  return fault;
}

struct FaultyOutbox : Outbox {
  FaultyOutbox() { queue("open-1", OutboxKind::open); }

  /// Delivers into the fault; how long the message is put off.
  WallMillis postponed_by(const Fault& fault) {
    github.fail_next(fault);
    const auto delivery = deliver();
    CHECK(delivery.postponed == 1);
    CHECK(message("open-1").state == OutboxState::pending);
    return message("open-1").not_before - clock.wall_now();
  }
  /// Rejects the message until it is given up.
  void reject_three_times(const Fault& fault) {
    for (int i = 0; i < 3; ++i) {
      CHECK(message("open-1").state == OutboxState::pending);
      github.fail_next(fault);
      deliver();
      clock.advance(std::chrono::hours(1));
    }
    CHECK(message("open-1").state == OutboxState::dead);
  }
  void require_one_issue_in_the_end() {
    deliver_all();
    CHECK(message("open-1").state == OutboxState::sent);
    CHECK(issues_with("open-1", github) == 1);
  }
};

}  // namespace

TEST_CASE_METHOD(FaultyOutbox, "a time-out after GitHub has accepted leaves one issue") {
  time_limit = std::chrono::milliseconds(150);
  Fault fault;
  fault.kind = Fault::Kind::hang;
  fault.done = true;
  CHECK(postponed_by(fault) == kSettling);
  time_limit = std::chrono::milliseconds(10'000);
  require_one_issue_in_the_end();
}

TEST_CASE_METHOD(FaultyOutbox, "a connection closed in the answer leaves one issue") {
  Fault fault;
  fault.kind = Fault::Kind::cut;
  fault.done = true;
  CHECK(postponed_by(fault) == kSettling);
  require_one_issue_in_the_end();
}

TEST_CASE_METHOD(FaultyOutbox, "a 502 leaves one issue, whether GitHub did it or not") {
  Fault fault = status(502);
  fault.done = GENERATE(true, false);
  CHECK(postponed_by(fault) == kSettling);
  require_one_issue_in_the_end();
}

TEST_CASE_METHOD(FaultyOutbox, "a failed look-up posts nothing") {
  Fault fault = status(503);
  fault.method = "GET";
  CHECK(postponed_by(fault) == kMinute);
  CHECK(github.issues().empty());
  require_one_issue_in_the_end();
}

TEST_CASE_METHOD(FaultyOutbox, "the wait after a failure doubles and ends at half an hour") {
  WallMillis expected = kMinute;
  for (int i = 0; i < 12; ++i) {
    CHECK(postponed_by(status(500)) == std::clamp(expected, kSettling, 30 * kMinute));
    expected *= 2;
    clock.advance(std::chrono::hours(7));
  }
}

TEST_CASE_METHOD(FaultyOutbox, "retry-after is waited for, not a second less") {
  CHECK(postponed_by(status(403, {{"Retry-After", "1234"}})) == 1'234'000);
  CHECK(message("open-1").last_error.find("rate limit") != std::string::npos);
  require_one_issue_in_the_end();
}

TEST_CASE_METHOD(FaultyOutbox, "a pause that GitHub asks of one request holds for every other") {
  const auto shared = settings();
  const auto one = github::GithubApi::create(*http, clock, shared).value();
  const auto other = github::GithubApi::create(*http, clock, shared).value();
  auto limit = status(403, {{"Retry-After", "90"}});
  limit.method = "GET";
  github.fail_next(limit);
  CHECK(one.read("/issues/1").error().wait == std::chrono::seconds(90));
  const auto asked = github.requests().size();
  clock.advance(std::chrono::seconds(60));
  CHECK(other.read("/issues/1").error().wait == std::chrono::seconds(30));
  const auto write = other.write("POST", "/issues", {{"title", "not now"}});
  CHECK(write.error().is_for_all);
  CHECK_FALSE(write.error().may_be_done);
  CHECK(github.requests().size() == asked);
  clock.advance(std::chrono::seconds(30));
  CHECK(other.write("POST", "/issues", {{"title", "now"}}));
  // A limit that says no time is a minute; another token need not wait for it.
  Fault secondary = status(403);
  secondary.message = "You have exceeded a secondary rate limit.";
  github.fail_next(secondary);
  CHECK_FALSE(one.write("POST", "/issues", {{"title", "one more"}}));
  CHECK(shared.traffic->pause_left(clock) == std::chrono::minutes(1));
  OutboxStore messages(*database);
  REQUIRE(github::OutboxSender(messages, *http, clock, shared).retry_now());
  CHECK(other.write("POST", "/issues", {{"title", "with another token"}}));
}

TEST_CASE_METHOD(FaultyOutbox, "a used-up quota is waited for until its reset") {
  const auto reset = clock.wall_now() / 1000 + 600;
  const auto wait = postponed_by(
      status(429, {{"X-RateLimit-Remaining", "0"}, {"X-RateLimit-Reset", std::to_string(reset)}}));
  CHECK(wait >= 600'000);
  CHECK(wait <= 602'000);
}

TEST_CASE_METHOD(FaultyOutbox, "a rate limit keeps one sender quiet about every message") {
  queue("other", OutboxKind::comment);
  github.fail_next(status(429, {{"Retry-After", "100"}}));
  OutboxStore messages(*database);
  github::OutboxSender sender(messages, *http, clock, settings());
  CHECK(sender.deliver_due({}).value().postponed == 1);
  const auto asked = github.requests().size();
  clock.step_wall(std::chrono::hours(1));  // the messages are due, but no time has passed
  CHECK(sender.deliver_due({}).value().sent == 0);
  CHECK(github.requests().size() == asked);
  clock.advance(std::chrono::seconds(100));
  CHECK(sender.deliver_due({}).value().sent == 2);
}

TEST_CASE_METHOD(
    FaultyOutbox,
    "issues that are switched off, and a version of the API that ended, lose no issue") {
  const auto [code, message_of_github, said] =
      GENERATE(Catch::Generators::table<int, std::string, std::string>(
          {{410, "Issues has been disabled in this repository.",
            "issues are disabled in owner/name: enable them"},
           {410, "This version of the API is not supported any more.",
            "install a newer torchwatch"},
           {400, "The API version is not known.", "install a newer torchwatch"}}));
  for (int i = 0; i < 20; ++i) {
    Fault fault = status(code);
    fault.message = message_of_github;
    github.fail_next(fault);
    CHECK(deliver().problem.find(said) != std::string::npos);
    clock.advance(std::chrono::hours(7));
  }
  CHECK(message("open-1").tries == 0);
  require_one_issue_in_the_end();
}

TEST_CASE_METHOD(FaultyOutbox, "an issue that is gone ends the message, which says so") {
  reject_three_times(status(410));
  CHECK(message("open-1").state == OutboxState::dead);
  CHECK(message("open-1").not_before == clock.wall_now() - 60 * kMinute);  // when that was
  CHECK(message("open-1").last_error.find("issues are disabled in owner/name") !=
        std::string::npos);
}

TEST_CASE_METHOD(FaultyOutbox, "a refused message ends with GitHub's own words") {
  Fault fault = status(422);
  fault.message = "body is too long (maximum is 65536 characters)";
  reject_three_times(fault);
  CHECK(message("open-1").last_error.find("maximum is 65536") != std::string::npos);
}

TEST_CASE_METHOD(FaultyOutbox,
                 "the error of a token without the permission names the one it needs") {
  postponed_by(status(403, {{"X-Accepted-GitHub-Permissions", "issues=write"}}));
  const auto error = message("open-1").last_error;
  CHECK(error.find("Issues: read and write") != std::string::npos);
  CHECK(error.find("issues=write") != std::string::npos);
  CHECK(error.find(kToken) == std::string::npos);
}

TEST_CASE_METHOD(FaultyOutbox, "a token that is not accepted is said to be replaced") {
  postponed_by(status(401));
  const auto error = message("open-1").last_error;
  CHECK(error.starts_with("GitHub rejected the token (expired or revoked?): put a new one"));
  CHECK(error.find("[github] token_file") != std::string::npos);
  CHECK(error.find('&') == std::string::npos);
}

TEST_CASE_METHOD(FaultyOutbox, "a token that is not accepted for a month loses no issue") {
  for (int i = 0; i < 100; ++i) {
    github.fail_next(status(401));
    CHECK(deliver().problem.find("GitHub rejected the token") != std::string::npos);
    clock.advance(std::chrono::hours(7));
  }
  CHECK(message("open-1").tries == 0);
  require_one_issue_in_the_end();
}

TEST_CASE_METHOD(FaultyOutbox, "another token is tried at once") {
  OutboxStore messages(*database);
  github::OutboxSender sender(messages, *http, clock, settings());
  github.fail_next(status(401));
  CHECK(sender.deliver_due({}).value().postponed == 1);
  CHECK(sender.deliver_due({}).value().sent == 0);
  REQUIRE(sender.retry_now());
  CHECK(sender.deliver_due({}).value().sent == 1);
}

TEST_CASE_METHOD(FaultyOutbox, "a message that was given up is sent when somebody retries it") {
  reject_three_times(status(422));
  CHECK(deliver().sent == 0);
  OutboxStore messages(*database);
  REQUIRE(messages.retry("open-1"));
  require_one_issue_in_the_end();
}

TEST_CASE_METHOD(FaultyOutbox, "a tracker that is not there postpones") {
  test::FakeHttpClient nobody([](const platform::HttpRequest&) -> Result<platform::HttpResponse> {
    return fail(ErrorCode::unavailable, "no connection to the host");
  });
  OutboxStore messages(*database);
  github::OutboxSender sender(messages, nobody, clock, settings());
  CHECK(sender.deliver_due({}).value().postponed == 1);
  require_one_issue_in_the_end();
}

TEST_CASE_METHOD(FaultyOutbox, "a redirect to another host gets neither the token nor the text") {
  test::FakeHttpClient redirecting([](const platform::HttpRequest& request) {
    if (request.url.ends_with("/user")) return test::answer(200, kAnyUser);
    if (request.method == "GET" && request.url.find("evil.example") == std::string::npos) {
      return test::answer(302, "", {{"location", "https://evil.example/x"}});
    }
    if (request.method == "GET") return test::answer(200, "[]");
    return test::answer(307, "", {{"location", "https://evil.example/x"}});
  });
  OutboxStore messages(*database);
  auto without_labels = settings();
  without_labels.labels.clear();
  github::OutboxSender sender(messages, redirecting, clock, without_labels);
  CHECK(sender.deliver_due({}).value().postponed == 1);
  const auto requests = redirecting.requests();
  REQUIRE(requests.size() == 4);
  CHECK(requests[1].headers.count("Authorization") == 1);
  CHECK(requests[2].headers.count("Authorization") == 0);
  CHECK(requests[3].method == "POST");
  CHECK(requests[3].url.starts_with(github.url()));
}

TEST_CASE_METHOD(FaultyOutbox, "redirects in a circle end after five") {
  test::FakeHttpClient circling([](const platform::HttpRequest& request) {
    return test::answer(301, "", {{"location", request.url}});
  });
  OutboxStore messages(*database);
  github::OutboxSender sender(messages, circling, clock, settings());
  CHECK(sender.deliver_due({}).value().postponed == 1);
  CHECK(circling.requests().size() == 6);
}

TEST_CASE_METHOD(FaultyOutbox, "a next page on another host is not asked for") {
  test::FakeHttpClient luring([](const platform::HttpRequest& request) {
    if (request.url.ends_with("/user")) return test::answer(200, kAnyUser);
    return test::answer(200, "[]", {{"link", "<https://evil.example/x>; rel=\"next\""}});
  });
  OutboxStore messages(*database);
  github::OutboxSender sender(messages, luring, clock, settings());
  CHECK(sender.deliver_due({}).value().postponed == 1);
  CHECK(luring.requests().size() == 1);  // for labels
}
