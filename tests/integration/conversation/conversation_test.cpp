// A conversation from the first issue to its end, as people see it on GitHub.
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>

#include "golden.hpp"
#include "talk.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/verdicts.hpp"
#include "torchwatch/tracker/mute_store.hpp"
#include "torchwatch/triage/triage.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::IncidentState;

namespace {

/// What differs from one run to the next: dates, shas, what was measured.
std::string without_chance(std::string text, const std::vector<std::string>& commits) {
  for (std::size_t i = 0; i < commits.size(); ++i) {
    text = std::regex_replace(text, std::regex(commits[i].substr(0, 12)),
                              "COMMIT-" + std::to_string(i));
  }
  text = std::regex_replace(text, std::regex(R"(\d{4}-\d\d-\d\d \d\d:\d\d)"), "DATE");
  text = std::regex_replace(text, std::regex(R"([+-]?[\d.]+ %)"), "N %");
  text = std::regex_replace(text, std::regex(R"(\[N, N\] %|\[[^\]]*\] %)"), "[N, N] %");
  return std::regex_replace(text, std::regex(R"(, takes about [^.]*)"), "");
}

std::string newest_reply(Talk& talk, std::int64_t issue = 1) {
  const auto comments = talk.github.issue(issue).comments;
  const auto& body = comments.back().body;
  CHECK(comments.back().login == "torchwatch-account");
  return body.substr(0, body.find("\n<!--"));
}

std::size_t comments(Talk& talk) {
  return talk.github.issue(1).comments.size();
}

}  // namespace

TEST_CASE("people talk about an incident: quoted, in code, strangers, mistakes, a dispute, a fix") {
  Talk talk(true);
  talk_until_it_is_fixed(talk);
  require_golden("conversation.md", without_chance(talk.github.transcript(1), talk.day.commits()));
  CHECK(talk.database().check_invariants().value().empty());
  CHECK(storage::OutboxStore(talk.database()).unsent().value().empty());
}

TEST_CASE("a command counts once, whatever brings its comment how often") {
  Talk talk;
  CHECK(talk.work().empty());
  talk.pass(std::chrono::minutes(1));
  const auto delivery = talk.github.people.comment("bea", 1, "/ack known");
  for (int i = 0; i < 3; ++i) {
    talk.hear(delivery);
    talk.pass(std::chrono::minutes(10));
    CHECK(talk.work().empty());
  }
  CHECK(talk.decisions() == 1);
  CHECK(comments(talk) == 2);
}

TEST_CASE("a reply whose answer was lost is found again, and edited in its place") {
  Talk talk;
  CHECK(talk.hook(talk.github.people.comment("bea", 1, "/bisect deadbeef workload=dlrm")) == 202);
  REQUIRE(talk.inbox->work({}));
  int posts = 0;
  talk.github.set_fault(
      [&](const platform::HttpRequest& request) -> std::optional<Result<platform::HttpResponse>> {
        const bool is_reply =
            request.method == "POST" && request.url.ends_with("/issues/1/comments");
        if (is_reply && ++posts == 1) return fail(ErrorCode::unavailable, "planted");
        return std::nullopt;
      });
  talk.deliver();
  talk.pass(std::chrono::hours(1));
  talk.deliver();
  CHECK(comments(talk) == 2);
  CHECK_THAT(newest_reply(talk), Contains("Request 1: place 1 of 1 in the queue"));
  REQUIRE(storage::RequestStore(talk.database())
              .answer(1, storage::RequestState::refused, R"({"error": "no such commit"})"));
  CHECK(talk.work().empty());
  CHECK(comments(talk) == 2);
  CHECK_THAT(newest_reply(talk), Contains("Request 1 is refused: `no such commit`"));
}

TEST_CASE("a search is asked for with what the command leaves out as the incident has it") {
  Talk talk(true);
  talk.hear(talk.github.people.comment("bea", 1, "/bisect"));
  const auto request = storage::RequestStore(talk.database()).get(1).value();
  CHECK(to_string(request.asked_by) == "github bea");
  const auto body = nlohmann::json::parse(request.body_json);
  CHECK(body.at("good") == talk.day.commits().front());
  CHECK(body.at("bad") == talk.day.commits().back());
  CHECK(body.at("metrics") == nlohmann::json{"time"});
  talk.hear(talk.github.people.comment("bea", 1, "/bisect deadbeef config=cpu-infer"));
  const auto second =
      nlohmann::json::parse(storage::RequestStore(talk.database()).get(2).value().body_json);
  CHECK(second.at("suspect") == "deadbeef");
  CHECK_FALSE(second.contains("good"));
  CHECK(second.at("configurations") == nlohmann::json{"cpu-infer"});
}

TEST_CASE("a search is of the variants that the incident is about") {
  Talk talk;
  auto row = talk.incident();
  row.key = "bf16";
  row.issue_number.reset();
  row.series.front().series.benchmark.variant.precision = Precision::bf16;
  const auto other = storage::IncidentStore(talk.database()).open(row).value();
  storage::OutboxRow message;
  message.key = "open-2";
  message.incident = other.id;
  message.title = "[perf] slower in bf16";
  message.body = "Slower.";
  REQUIRE(storage::OutboxStore(talk.database()).queue(message));
  talk.deliver();
  talk.hear(talk.github.people.comment("bea", 2, "/bisect deadbeef"));
  const auto body =
      nlohmann::json::parse(storage::RequestStore(talk.database()).get(1).value().body_json);
  CHECK(body.at("variants") == nlohmann::json::array({"bf16"}));
}

TEST_CASE("a comment that was heard in another repository is not answered in this one") {
  Talk talk;
  CHECK(talk.hook(talk.github.people.comment("bea", 1, "/ack known")) == 202);
  auto row = storage::ReceivedStore(talk.database()).pending().value().front();
  auto body = nlohmann::json::parse(row.body_json);
  body["repository"] = "owner/test";
  body["comment"] = 4711;
  row.delivery = "webhook:elsewhere";
  row.body_json = body.dump();
  REQUIRE(storage::ReceivedStore(talk.database()).receive(row));
  CHECK(talk.work().empty());
  CHECK(talk.decisions() == 1);
  CHECK_FALSE(storage::ConversationStore(talk.database()).find_command(4711).value());
}

TEST_CASE("what cannot be carried out is answered with why, quoted, and changes nothing") {
  Talk talk;
  talk.refusal = "commit `deadbeef` is not on branch main @ada";
  talk.hear(talk.github.people.comment("bea", 1, "/bisect deadbeef"));
  CHECK_THAT(newest_reply(talk),
             Contains("Nothing was done: ``commit `deadbeef` is not on branch main @ada``"));
  CHECK(storage::RequestStore(talk.database()).list(10).value().empty());
  talk.hear(talk.github.people.comment("bea", 1, "/wrong it is"));
  CHECK_THAT(newest_reply(talk), Contains("names no commit"));
  talk.hear(talk.github.people.comment("bea", 1, "/mute dlmr 14d because"));
  CHECK_THAT(newest_reply(talk), Contains("did you mean dlrm?"));
  talk.hear(talk.github.people.comment("bea", 1, "/mute dlrm/gpu 14d because"));
  CHECK_THAT(newest_reply(talk), Contains("Nothing was done"));
  CHECK(storage::MuteStore(talk.database()).list(10).value().empty());
}

TEST_CASE("acknowledging is taken back, and what was asked for is cancelled") {
  Talk talk;
  talk.hear(talk.github.people.comment("bea", 1, "/ack known"));
  talk.hear(talk.github.people.comment("ada", 1, "/unack"));
  CHECK(talk.incident().state == IncidentState::open);
  talk.hear(talk.github.people.comment("bea", 1, "/bisect deadbeef workload=dlrm"));
  talk.hear(talk.github.people.comment("ada", 1, "/cancel"));
  CHECK(storage::RequestStore(talk.database()).get(1).value().state ==
        storage::RequestState::cancelled);
  CHECK_THAT(newest_reply(talk), Contains("Cancelled what was asked for on this issue (1)."));
  CHECK_THAT(talk.github.transcript(1), Contains("cancelled by github ada"));
  talk.hear(talk.github.people.comment("ada", 1, "/cancel"));
  CHECK_THAT(newest_reply(talk), Contains("Nothing that was asked for"));
}

TEST_CASE("who may give a command is a setting, and so is how often") {
  Talk talk;
  talk.settings.rights.ack = {"admin"};
  talk.settings.rights.allow = {"3"};
  talk.settings.rights.per_user_per_day = 2;
  talk.settings.rights.per_day = 3;
  talk.restart();
  talk.hear(talk.github.people.comment("bea", 1, "/ack known"));
  CHECK(talk.decisions() == 0);
  talk.hear(talk.github.people.comment("cem", 1, "/ack known"));
  CHECK(talk.newest_decision() == "acknowledged by cem (github cem): known");
  const auto ask = [&](const std::string& who) {
    talk.hear(talk.github.people.comment(who, 1, "/bisect deadbeef workload=dlrm"));
    return storage::RequestStore(talk.database()).list(10).value().size();
  };
  CHECK(ask("bea") == 1);
  CHECK(ask("bea") == 2);
  CHECK(ask("bea") == 2);
  CHECK_THAT(newest_reply(talk), Contains("you asked for 2 measurements within 24 hours"));
  CHECK(ask("ada") == 3);
  CHECK(ask("ada") == 3);
  talk.pass(std::chrono::hours(25));
  CHECK(ask("bea") == 4);
}

TEST_CASE("strangers get one polite line an issue, and programs and we ourselves none") {
  Talk talk;
  for (int i = 0; i < 3; ++i) talk.hear(talk.github.people.comment("cem", 1, "/bisect"));
  talk.hear(talk.github.people.comment("nobody-knows-me", 1, "/cancel"));
  talk.hear(talk.github.people.comment("helpful[bot]", 1, "/ack known"));
  talk.hear(talk.github.people.comment("torchwatch-account", 1, "/ack known"));
  CHECK(comments(talk) == 7);
  CHECK_THAT(talk.github.issue(1).comments[1].body, Catch::StartsWith("Thank you."));
  CHECK(talk.decisions() == 0);
  talk.hear(talk.github.people.comment("cem", 1, "/bisect help"));
  CHECK_THAT(newest_reply(talk), Contains("/mute TARGET 14d REASON"));
}

TEST_CASE("a muted series opens no incident until its date, and is judged meanwhile") {
  test::TemporaryFolder folder;
  test::ScriptedDay day(folder.path(), test::day_with_two_culprits());
  const auto service = test::ScriptedService::open(day.config()).value();
  auto& database = service->services().database;
  const auto now = service->services().clock.wall_now();
  storage::MuteStore mutes(database);
  REQUIRE(mutes.add({.target = "soft_actor_critic/cpu-train",
                     .until = now + 86'400'000,
                     .made_by = "bea",
                     .reason = "known",
                     .made_at = now}));
  REQUIRE(mutes.add({.target = "dlrm", .until = now - 1, .made_by = "bea", .reason = "known"}));
  REQUIRE(service->carry_out_due_comparisons());
  const auto incidents = storage::IncidentStore(database).list(10).value();
  REQUIRE(incidents.size() == 1);
  CHECK(incidents[0].series.front().series.benchmark.workload == "dlrm");
  const auto verdicts = storage::verdicts_of(database, incidents[0].comparison);
  CHECK(std::ranges::any_of(verdicts.value(), [](const auto& verdict) {
    return verdict.verdict == Verdict::regressed &&
           verdict.series.benchmark.workload == "soft_actor_critic";
  }));
}
