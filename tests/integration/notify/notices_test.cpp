// From events of the database to messages: who gets what, and how often.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "fake_github_pulls.hpp"
#include "notify_fixture.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/outbox/outbox_waits.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;

namespace {

constexpr const char* kRepository = "owner/name";
constexpr const char* kToken = "ghs_a-token-for-tests";

/// A GitHub, and what tells it of nightlies.
struct StatusFixture : NotifyFixture {
  StatusFixture() {
    config.github.repository = kRepository;
    config.github.statuses = true;
  }

  void tell() {
    queue();
    github::GithubSettings settings;
    settings.repository = kRepository;
    settings.token = kToken;
    settings.api = github.url();
    settings.write_interval = std::chrono::milliseconds(0);
    OutboxStore messages(*database);
    github::OutboxSender sender(messages, *http, clock, settings);
    const auto sent = sender.deliver_due({});
    if (!sent) FAIL(sent.error().text());
    problem = sent->problem;
  }

  test::FakeGithubPulls github{kRepository, kToken};
  std::unique_ptr<platform::HttpClient> http = platform::make_http_client("torchwatch-test");
  std::string problem;
};

}  // namespace

TEST_CASE("a receiver hears of what comes after it is known, not of the past") {
  NotifyFixture fixture;
  fixture.report(fixture.nightly("2026-08-17", kCommit), false);
  fixture.add_webhook("chat", "http://127.0.0.1:1");
  fixture.start();
  CHECK(fixture.unsent().empty());
  fixture.report(fixture.nightly("2026-08-18", kCommit), false);
  fixture.queue();
  CHECK(fixture.unsent().size() == 1);
}

TEST_CASE("a receiver hears only the events that it is configured for") {
  NotifyFixture fixture;
  fixture.add_webhook("all", "http://127.0.0.1:1");
  fixture.add_webhook("some", "http://127.0.0.1:1", {"acknowledged"});
  fixture.start();
  const auto row = fixture.nightly("2026-08-17", kCommit);
  const auto incident = fixture.incident_of(row.id, "slower");
  fixture.report(row, true);
  REQUIRE(IncidentStore(*fixture.database).acknowledge(incident.id, {"ada", "", 1}));
  fixture.queue();
  std::vector<std::string> keys;
  for (const auto& message : fixture.unsent()) keys.push_back(message.key);
  CHECK(std::ranges::count(keys, "webhook-some-acknowledged-1-1") == 1);
  CHECK(std::ranges::count(keys, "webhook-all-acknowledged-1-1") == 1);
  CHECK(std::ranges::count(keys, "webhook-all-opened-1") == 1);
  CHECK(std::ranges::count(keys, "webhook-all-nightly-1") == 1);
  CHECK(keys.size() == 4);
}

TEST_CASE("each decision is one notice, and a new receiver gets none of an earlier one") {
  NotifyFixture fixture;
  fixture.add_webhook("chat", "http://127.0.0.1:1");
  const auto row = fixture.nightly("2026-08-17", kCommit);
  const auto incident = fixture.incident_of(row.id, "slower");
  IncidentStore incidents(*fixture.database);
  fixture.start();
  REQUIRE(incidents.acknowledge(incident.id, {"ada", "", 1}));
  REQUIRE(incidents.accept(incident.id, {"ada", "the price of a fix", 2}));
  REQUIRE(incidents.reopen(incident.id, {"ada", "", 3}));
  fixture.queue();
  fixture.add_webhook("late", "http://127.0.0.1:1");
  fixture.start();
  REQUIRE(incidents.set_title(incident.id, "slower by a commit"));
  fixture.queue();
  std::vector<std::string> keys;
  for (const auto& message : fixture.unsent()) keys.push_back(message.key);
  CHECK(keys == std::vector<std::string>{"webhook-chat-acknowledged-1-1", "webhook-chat-closed-1-2",
                                         "webhook-chat-reopened-1-3"});
}

TEST_CASE(
    "a nightly's commit is pending while it is compared, and red only for what was confirmed") {
  StatusFixture fixture;
  fixture.start();
  auto row = fixture.nightly("2026-08-17", kCommit);
  row = ComparisonStore(*fixture.database)
            .advance(row, ComparisonState::ready, fixture.clock.wall_now())
            .value();
  fixture.tell();
  auto statuses = fixture.github.statuses(kCommit);
  REQUIRE(statuses.size() == 1);
  CHECK(statuses[0].at("state") == "pending");
  CHECK(statuses[0].at("context") == "torchwatch/nightly");
  CHECK(statuses[0].at("target_url") == "https://perf.example/comparisons/1");

  fixture.report(row, true);
  fixture.tell();
  fixture.tell();
  statuses = fixture.github.statuses(kCommit);
  REQUIRE(statuses.size() == 2);
  CHECK(statuses[1].at("state") == "failure");
  CHECK_THAT(statuses[1].at("description").get<std::string>(), Contains("1 series regressed"));
  CHECK(fixture.github.checks().empty());  // they need an App
}

TEST_CASE("a nightly that shows nothing is a success, one that could not be compared an error") {
  StatusFixture fixture;
  fixture.start();
  fixture.report(fixture.nightly("2026-08-17", kCommit), false);
  const std::string other(40, 'b');
  const auto refused = fixture.nightly("2026-08-18", other);
  REQUIRE(ComparisonStore(*fixture.database)
              .advance(refused, ComparisonState::refused, 1, "/home/secret: no runner"));
  fixture.tell();
  CHECK(fixture.github.statuses(kCommit).back().at("state") == "success");
  REQUIRE(fixture.github.statuses(other).size() == 1);
  CHECK(fixture.github.statuses(other)[0].at("state") == "error");
  CHECK_THAT(fixture.github.statuses(other)[0].dump(), !Contains("secret"));
}

TEST_CASE("with an App a nightly's commit has one check run, also if an answer is lost") {
  StatusFixture fixture;
  fixture.config.github.app_id = 12345;
  fixture.start();
  auto row = fixture.nightly("2026-08-17", kCommit);
  row = ComparisonStore(*fixture.database)
            .advance(row, ComparisonState::ready, fixture.clock.wall_now())
            .value();
  fixture.tell();
  REQUIRE(fixture.github.checks().size() == 1);
  CHECK(fixture.github.checks()[0].body.at("status") == "in_progress");
  fixture.report(row, true);
  fixture.github.lose_answer_to("PATCH");
  fixture.tell();
  fixture.clock.advance(std::chrono::hours(1));
  fixture.tell();
  const auto checks = fixture.github.checks();
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].body.at("conclusion") == "failure");
  CHECK_THAT(checks[0].body.at("output").at("summary").get<std::string>(),
             Contains("resnet18 cpu-train time") && Contains("+15.2 %"));
}

TEST_CASE("a token that may not set statuses keeps no issue from being filed") {
  StatusFixture fixture;
  fixture.start();
  fixture.github.forbid("/statuses/");
  fixture.report(fixture.nightly("2026-08-17", kCommit), false);
  OutboxRow comment;
  comment.key = "pull-17";
  comment.kind = OutboxKind::pull_comment;
  comment.target = "pull/17";
  comment.body = "Text.\n<!-- torchwatch-key: pull-17:abc -->\n";
  fixture.queue();
  REQUIRE(OutboxStore(*fixture.database).queue(comment));
  fixture.tell();
  CHECK_THAT(fixture.problem, Contains("Commit statuses: write"));
  CHECK(fixture.github.comments(17).size() == 1);
}

TEST_CASE("a status waits for as long as the token may not set it, and is set once it may") {
  StatusFixture fixture;
  fixture.start();
  fixture.github.forbid("/statuses/");
  fixture.report(fixture.nightly("2026-08-17", kCommit), false);
  for (int hour = 0; hour < 80; ++hour) {
    fixture.tell();
    fixture.clock.advance(std::chrono::hours(1));
  }
  auto unsent = fixture.unsent();
  REQUIRE(unsent.size() == 1);
  CHECK(unsent[0].state == OutboxState::pending);
  CHECK(unsent[0].tries == 0);
  CHECK(waits_alone(unsent[0]));
  CHECK_THAT(unsent[0].last_error, Contains("Commit statuses: write"));
  fixture.github.forbid("");
  fixture.tell();
  CHECK(fixture.unsent().empty());
  CHECK(fixture.github.statuses(kCommit).size() == 1);
}

TEST_CASE("a comment that somebody copied from us is not taken for ours") {
  StatusFixture fixture;
  fixture.start();
  OutboxRow row;
  row.key = "pull-17-a";
  row.kind = OutboxKind::pull_comment;
  row.target = "pull/17";
  row.body = "Measuring.\n<!-- torchwatch-key: pull-17-a:abc -->\n";
  fixture.github.set_comments(17, {row.body});
  REQUIRE(OutboxStore(*fixture.database).queue(row));
  fixture.tell();
  CHECK(fixture.problem.empty());
  CHECK(fixture.github.comments(17).size() == 2);
}

TEST_CASE("a pull request has one comment, which is edited, and made again when it was deleted") {
  StatusFixture fixture;
  fixture.start();
  const auto say = [&](const std::string& key, const std::string& text) {
    OutboxRow row;
    row.key = key;
    row.kind = OutboxKind::pull_comment;
    row.target = "pull/17";
    row.body = text + "\n<!-- torchwatch-key: " + key + ":abc -->\n";
    REQUIRE(OutboxStore(*fixture.database).queue(row));
    fixture.tell();
  };
  fixture.github.lose_answer_to("POST");
  say("pull-17-a", "Measuring.");
  fixture.clock.advance(std::chrono::hours(1));
  fixture.tell();
  REQUIRE(fixture.github.comments(17).size() == 1);
  say("pull-17-b", "Done.");
  REQUIRE(fixture.github.comments(17).size() == 1);
  CHECK_THAT(fixture.github.comments(17).begin()->second, Contains("Done."));
  fixture.github.set_comments(17, {});
  say("pull-17-c", "Once more.");
  REQUIRE(fixture.github.comments(17).size() == 1);
  CHECK_THAT(fixture.github.comments(17).begin()->second, Contains("Once more."));
}
