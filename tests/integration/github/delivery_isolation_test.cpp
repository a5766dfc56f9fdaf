// A message that cannot be delivered never keeps the one behind it from being sent: every error and
// every kind of refusal, at every step of the delivery of each kind of message, with a good message
// behind it.
#include <algorithm>
#include <catch2/catch.hpp>

#include "fake_http_client.hpp"
#include "outbox_fixture.hpp"
#include "refusals.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/outbox/outbox_waits.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

constexpr const char* kFaulty = "faulty";
constexpr const char* kBehind = "behind";
constexpr const char* kCommit = "5d1c1c3f0a9e5d1c1c3f0a9e5d1c1c3f0a9e5d1c";

/// A message as its maker queues it; without an incident it is about none.
struct Kind {
  OutboxKind kind;
  const char* target = "";
  bool is_of_incident = true;
  const char* title = "A title";
  const char* body = "A text.";
};

const Kind kReply{OutboxKind::reply, "comment/5", true, "issue/1"};

const std::vector<Kind> kKinds{
    {OutboxKind::open},
    {OutboxKind::comment},
    {OutboxKind::close},
    {OutboxKind::reopen},
    {OutboxKind::edit},
    {OutboxKind::edit, "author/5d1c1c3f0a9e5d1c1c3f0a9e5d1c1c3f0a9e5d1c"},
    {OutboxKind::umbrella, "umbrella/1786849445000", false},
    {OutboxKind::digest, "digest/1786849445000", false},
    kReply,
    {OutboxKind::pull_comment, "pull/17"},
    {OutboxKind::pull_comment, "pull/17", false},
    {OutboxKind::status, "commit/5d1c1c3f0a9e5d1c1c3f0a9e5d1c1c3f0a9e5d1c", false, "",
     R"({"state": "success", "context": "torchwatch/nightly"})"},
    {OutboxKind::check, "commit/5d1c1c3f0a9e5d1c1c3f0a9e5d1c1c3f0a9e5d1c", false, "",
     R"({"name": "torchwatch", "external_id": "7", "status": "in_progress"})"}};

/// One request of a delivery: "GET /repos/owner/name/issues".
std::string step_of(const platform::HttpRequest& request) {
  const auto path = request.url.find('/', request.url.find("//") + 2);
  return request.method + " " + request.url.substr(path, request.url.find('?') - path);
}

/// A GitHub that has nothing yet, and takes everything.
Result<platform::HttpResponse> obliging(const platform::HttpRequest& request) {
  const auto step = step_of(request);
  if (request.method != "GET") {
    return test::answer(request.method == "POST" ? 201 : 200, R"({"number": 7, "id": 7})");
  }
  if (step == "GET /user") return test::answer(200, R"({"login": "tw", "id": 1, "type": "User"})");
  if (step.ends_with("/check-runs")) return test::answer(200, R"({"check_runs": []})");
  const bool is_commit = step.ends_with(kCommit);
  if (is_commit) return test::answer(200, R"({"author": {"login": "ada", "type": "User"}})");
  const bool is_list = !step.ends_with("/1") && !step.ends_with("/7");
  return test::answer(200, is_list ? "[]" : R"({"number": 7, "assignees": []})");
}

/// A message of that kind, and an issue to be opened behind it. The incident of the first has its
/// issue already, unless the message is to open it.
struct TwoMessages : Outbox {
  explicit TwoMessages(const Kind& kind)
      : Outbox(own_github_description()),
        client([this](const platform::HttpRequest& request) -> Result<platform::HttpResponse> {
          if (row_of(kFaulty).state != OutboxState::sending) return obliging(request);
          steps.push_back(step_of(request));
          const bool is_refused = steps.back() == refused_step || steps.back() == also_refused;
          return refusal && is_refused ? test::refused(*refusal) : obliging(request);
        }) {
    if (kind.is_of_incident && kind.kind != OutboxKind::open) {
      queue("first", OutboxKind::open);
      OutboxStore messages(*database);
      REQUIRE(messages.mark_sending("first"));
      REQUIRE(messages.mark_sent("first", 1, clock.wall_now()));
    }
    queue_as(kind, kFaulty);
    incident = another_incident();
    queue(kBehind, OutboxKind::open);
  }

  void queue_as(const Kind& kind, const std::string& key) const {
    OutboxRow row;
    row.key = key;
    row.incident = kind.is_of_incident ? incident : 0;
    row.kind = kind.kind;
    row.target = kind.target;
    row.title = kind.title;
    row.body = kind.body;
    if (*kind.body != '{') row.body += "\n" + report::marker(key);
    REQUIRE(OutboxStore(*database).queue(row));
  }

  Id another_incident(const std::string& key = "time-cpu:def") const {
    const auto comparison = ComparisonStore(*database).list(1).value().front();
    IncidentRow row;
    row.comparison = comparison.id;
    row.key = key;
    row.title = "dlrm cpu-infer time +20.0 %";
    row.opened_at = clock.wall_now();
    return IncidentStore(*database).open(row).value().id;
  }

  OutboxRow row_of(const std::string& key) const {
    const auto subject = OutboxStore(*database).subject_of(key).value();
    for (const auto& row : subject.messages) {
      if (row.key == key) return row;
    }
    FAIL("no message " << key);
    return {};
  }

  /// Delivers as the daemon does, an hour after the other.
  void work(int hours) {
    OutboxStore messages(*database);
    auto with = settings();
    with.commits = kRepository;
    with.write_interval = std::chrono::milliseconds(0);
    github::OutboxSender sender(messages, client, clock, with);
    for (int hour = 0; hour < hours; ++hour) {
      REQUIRE(sender.deliver_due({}));
      clock.advance(std::chrono::hours(1));
    }
  }

  std::string refused_step;
  std::string also_refused;
  std::optional<test::Refusal> refusal;
  std::vector<std::string> steps;  ///< of the faulty message
  test::FakeHttpClient client;
};

/// The requests that a message of that kind needs, once each.
std::vector<std::string> steps_of(const Kind& kind) {
  TwoMessages outbox(kind);
  outbox.work(1);
  CHECK(outbox.row_of(kFaulty).state == OutboxState::sent);
  auto steps = outbox.steps;
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

void check_message(const Kind& kind, const std::string& step, const test::Refusal& refusal) {
  INFO(to_string(kind.kind) << " " << kind.target << ": " << step << " meets "
                            << test::name_of(refusal));
  TwoMessages outbox(kind);
  outbox.refused_step = step;
  outbox.refusal = refusal;
  outbox.work(4);
  CHECK(outbox.row_of(kBehind).state == OutboxState::sent);
  const auto faulty = outbox.row_of(kFaulty);
  if (faulty.state == OutboxState::sent) return;  // it can do without what was refused
  CHECK_FALSE(faulty.last_error.empty());
  if (faulty.state == OutboxState::dead) {
    CHECK(faulty.tries == 3);
    return;
  }
  CHECK(faulty.state == OutboxState::pending);
  CHECK(faulty.tries == 0);
  CHECK(faulty.failures > 1);
  outbox.refusal.reset();
  outbox.work(1);
  CHECK(outbox.row_of(kFaulty).state == OutboxState::sent);
}

}  // namespace

TEST_CASE("whatever refuses a message, the one behind it is sent, and what waits uses up no try") {
  for (const auto& kind : kKinds) {
    const auto steps = steps_of(kind);
    INFO(to_string(kind.kind) << " " << kind.target);
    REQUIRE_FALSE(steps.empty());
    for (const auto& step : steps) {
      for (const auto& refusal : test::every_refusal()) check_message(kind, step, refusal);
    }
  }
}

TEST_CASE("a right that the token lacks keeps what needs it waiting, for as long as that lasts") {
  for (const auto& kind : kKinds) {
    const bool is_placed = kind.kind == OutboxKind::pull_comment ||
                           kind.kind == OutboxKind::status || kind.kind == OutboxKind::check ||
                           std::string_view(kind.target).starts_with("author/");
    if (!is_placed) continue;
    for (const auto& step : steps_of(kind)) {
      for (const int status : {403, 404}) {
        INFO(to_string(kind.kind) << " " << kind.target << ": " << step << " meets " << status);
        // A pull request or a commit that is not there, in a repository that can be seen, is not
        // there.
        const bool is_read = step.starts_with("GET ") && !step.ends_with("/check-runs");
        if (step == "GET /user" || (status == 404 && is_read)) continue;
        TwoMessages outbox(kind);
        outbox.refused_step = step;
        outbox.refusal = status;
        outbox.work(80);
        const auto faulty = outbox.row_of(kFaulty);
        CHECK(outbox.row_of(kBehind).state == OutboxState::sent);
        CHECK(faulty.state == OutboxState::pending);
        CHECK(faulty.tries == 0);
        CHECK(waits_alone(faulty));
        CHECK_THAT(faulty.last_error, Contains("permission"));
        outbox.refusal.reset();
        outbox.work(1);
        CHECK(outbox.row_of(kFaulty).state == OutboxState::sent);
      }
    }
  }
}

TEST_CASE("what follows an issue that is not there any more is given up, and holds up nobody") {
  for (const Kind& kind :
       {Kind{OutboxKind::comment}, Kind{OutboxKind::close}, Kind{OutboxKind::edit}, kReply}) {
    for (const auto& step : steps_of(kind)) {
      if (step == "GET /user") continue;
      INFO(to_string(kind.kind) << ": " << step);
      TwoMessages outbox(kind);
      outbox.refused_step = step;
      outbox.refusal = 404;
      outbox.work(5);
      CHECK(outbox.row_of(kBehind).state == OutboxState::sent);
      CHECK(outbox.row_of(kFaulty).state == OutboxState::dead);
      CHECK_THAT(outbox.row_of(kFaulty).last_error, Contains("there is no such issue"));
    }
  }
}

TEST_CASE("a pull request that is not there is given up, and one that cannot be seen waits") {
  const bool is_visible = GENERATE(true, false);
  for (const Kind& kind : {Kind{OutboxKind::pull_comment, "pull/17"},
                           Kind{OutboxKind::pull_comment, "pull/17", false}}) {
    TwoMessages outbox(kind);
    outbox.refused_step = "GET /repos/owner/name/issues/17/comments";
    outbox.refusal = 404;
    if (!is_visible) outbox.also_refused = "GET /repos/owner/name";
    outbox.work(5);
    CHECK(outbox.row_of(kBehind).state == OutboxState::sent);
    const auto faulty = outbox.row_of(kFaulty);
    CHECK(faulty.state == (is_visible ? OutboxState::dead : OutboxState::pending));
    CHECK(faulty.tries == (is_visible ? 3 : 0));
    CHECK(waits_alone(faulty) == !is_visible);
  }
}

TEST_CASE("a locked conversation is GitHub's last word about a comment, not about the token") {
  TwoMessages outbox({OutboxKind::pull_comment, "pull/17", false});
  OutboxStore messages(*outbox.database);
  test::FakeHttpClient client([&](const platform::HttpRequest& request) {
    const bool is_comment = step_of(request) == "POST /repos/owner/name/issues/17/comments";
    return is_comment
               ? Result<platform::HttpResponse>(test::answer(
                     403, R"({"message": "Unable to create comment because issue is locked."})"))
               : obliging(request);
  });
  github::OutboxSender sender(messages, client, outbox.clock, outbox.settings());
  for (int hour = 0; hour < 4; ++hour) {
    REQUIRE(sender.deliver_due({}));
    outbox.clock.advance(std::chrono::hours(1));
  }
  CHECK(outbox.row_of(kFaulty).state == OutboxState::dead);
  CHECK_THAT(outbox.row_of(kFaulty).last_error, Contains("is locked"));
  CHECK(outbox.row_of(kBehind).state == OutboxState::sent);
}

TEST_CASE("of many messages that wait for one right a round asks for one, whatever else it sends") {
  TwoMessages outbox({OutboxKind::status, "commit/5d1c1c3f0a9e5d1c1c3f0a9e5d1c1c3f0a9e5d1c", false,
                      "", R"({"state": "success", "context": "torchwatch/nightly"})"});
  for (int number = 0; number < 50; ++number) {
    Kind kind{OutboxKind::status, "", false, "", R"({"state": "success"})"};
    const auto target = "commit/" + std::string(38, 'a') + std::to_string(10 + number);
    kind.target = target.c_str();
    outbox.queue_as(kind, "status-" + std::to_string(number));
  }
  int asked = 0;
  test::FakeHttpClient client([&](const platform::HttpRequest& request) {
    if (step_of(request).find("/statuses/") == std::string::npos) return obliging(request);
    ++asked;
    return test::refused(403);
  });
  OutboxStore messages(*outbox.database);
  github::OutboxSender sender(messages, client, outbox.clock, outbox.settings());
  CHECK(sender.deliver_due({}).value().sent == 1);
  CHECK(asked == 1);
  for (int minute = 0; minute < 10; ++minute) {
    outbox.clock.advance(std::chrono::minutes(1));
    REQUIRE(sender.deliver_due({}));
  }
  CHECK(asked == 11);
  CHECK(outbox.row_of(kBehind).state == OutboxState::sent);
}

TEST_CASE("a reply that somebody deleted is written anew, and holds up nobody") {
  TwoMessages outbox(kReply);
  outbox.work(1);
  CHECK(outbox.row_of(kFaulty).answer == "7");
  outbox.incident = outbox.row_of(kFaulty).incident;
  outbox.queue_as(kReply, "later");
  outbox.refused_step = "PATCH /repos/owner/name/issues/comments/7";
  test::FakeHttpClient client([&](const platform::HttpRequest& request) {
    const bool is_edit = step_of(request) == outbox.refused_step;
    return is_edit ? Result<platform::HttpResponse>(test::answer(404)) : obliging(request);
  });
  OutboxStore messages(*outbox.database);
  github::OutboxSender sender(messages, client, outbox.clock, outbox.settings());
  CHECK(sender.deliver_due({}).value().sent == 1);
  CHECK(outbox.row_of("later").state == OutboxState::sent);
}

TEST_CASE("a message that GitHub refuses as if for all keeps a new one waiting for a minute") {
  TwoMessages outbox({OutboxKind::comment});
  outbox.refused_step = "GET /repos/owner/name/issues/1/comments";
  outbox.refusal = 403;
  OutboxStore messages(*outbox.database);
  github::OutboxSender sender(messages, outbox.client, outbox.clock, outbox.settings());
  for (int hour = 0; hour < 8; ++hour) {
    REQUIRE(sender.deliver_due({}));
    outbox.clock.advance(std::chrono::hours(1));
  }
  CHECK(outbox.row_of(kFaulty).failures > 5);
  REQUIRE(sender.deliver_due({}));  // it is refused once more, and rests for half an hour
  outbox.incident = outbox.another_incident("time-cpu:ghi");
  outbox.queue("new", OutboxKind::open);
  outbox.clock.advance(std::chrono::minutes(1));
  REQUIRE(sender.deliver_due({}));
  CHECK(outbox.row_of("new").state == OutboxState::sent);
}
