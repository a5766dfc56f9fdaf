#include <catch2/catch.hpp>
#include <sstream>

#include "outbox_fixture.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/outbox/alarm_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

void tell_the_whole_story(Outbox& outbox) {
  outbox.queue("open-1", OutboxKind::open, "Slower.");
  outbox.queue("comment-1", OutboxKind::comment, "Still there.");
  outbox.queue("close-1", OutboxKind::close, "Gone.");
  CHECK(outbox.deliver().sent == 3);
  const auto issues = outbox.github.issues();
  REQUIRE(issues.size() == 1);
  CHECK(issues[0].title == "resnet18 cpu-train time +15.2 %");
  CHECK(issues[0].body == "Slower.\n" + report::marker("open-1") + "\n");
  CHECK(issues[0].labels == std::vector<std::string>{"torchwatch"});
  REQUIRE(issues[0].comments.size() == 2);
  CHECK(issues[0].comments[0].body == "Still there.\n" + report::marker("comment-1") + "\n");
  CHECK(issues[0].state == "closed");
  CHECK(outbox.message("close-1").issue_number == 1);
}

test::FakeGithub::Issue other_issue(const std::string& body) {
  test::FakeGithub::Issue issue;
  issue.title = "Something else";
  issue.body = body;
  return issue;
}

/// One that we opened, but whose answer was lost.
test::FakeGithub::Issue our_issue(const std::string& body) {
  auto issue = other_issue(body);
  issue.author = test::FakeGithub::owner_of_token();
  return issue;
}

}  // namespace

TEST_CASE("an incident is opened, commented and closed as GitHub describes its API") {
  Outbox outbox;
  tell_the_whole_story(outbox);
}

TEST_CASE("the same fits the project's own small description of that API") {
  Outbox outbox(own_github_description());
  tell_the_whole_story(outbox);
}

TEST_CASE("an issue that was closed is opened again, with a comment, as GitHub describes its API") {
  for (auto description : {github_description(), own_github_description()}) {
    Outbox outbox(std::move(description));
    tell_the_whole_story(outbox);
    outbox.queue("reopened-1", OutboxKind::reopen, "It is not.");
    CHECK(outbox.deliver().sent == 1);
    const auto issue = outbox.github.issues().at(0);
    CHECK(issue.state == "open");
    REQUIRE(issue.comments.size() == 3);
    CHECK_THAT(issue.comments[2].body, Catch::StartsWith("It is not."));
  }
}

TEST_CASE("an alarm becomes an issue, which is closed when the alarm ends") {
  Outbox outbox;
  AlarmStore alarms(*outbox.database);
  const auto now = outbox.clock.wall_now();
  OutboxRow message;
  message.key = "open-a";
  message.title = "no nightly";
  const auto alarm =
      alarms.raise({.since = 1, .raised_at = now, .issue_number = {}}, message).value();
  CHECK(outbox.deliver().sent == 1);
  message.key = "end-a";
  message.body = "One came.";
  REQUIRE(alarms.end(alarm, message, now));
  CHECK(outbox.deliver().sent == 1);
  const auto issues = outbox.github.issues();
  REQUIRE(issues.size() == 1);
  CHECK(issues[0].title == "no nightly");
  CHECK(issues[0].state == "closed");
  REQUIRE(issues[0].comments.size() == 1);
}

TEST_CASE("nothing is asked of GitHub when nothing is due") {
  Outbox outbox;
  CHECK(outbox.deliver().sent == 0);
  CHECK(outbox.github.requests().empty());
}

TEST_CASE("an issue that is there already is found on any page and not opened again") {
  Outbox outbox;
  outbox.github.plant(our_issue("the answer was lost\n" + report::marker("open-1")));
  for (int i = 0; i < 250; ++i) outbox.github.plant(other_issue(""));
  outbox.queue("open-1", OutboxKind::open);
  CHECK(outbox.deliver().sent == 1);
  CHECK(outbox.message("open-1").issue_number == 1);
  CHECK(outbox.github.issues().size() == 251);
  CHECK(outbox.github.requests().size() == 5);  // labels, who we are, and three pages
}

TEST_CASE("an issue of somebody who guessed the message's key is not taken for ours") {
  Outbox outbox;
  outbox.github.plant(other_issue("squatting\n" + report::marker("open-1")));
  outbox.queue("open-1", OutboxKind::open, "Slower.\n" + report::marker("open-1:5ec2e7") + "\n");
  CHECK(outbox.deliver().sent == 1);
  CHECK(outbox.message("open-1").issue_number == 2);
}

TEST_CASE("a copy of our issue is not taken for it") {
  Outbox outbox;
  const auto body = "Slower.\n" + report::marker("open-1:5ec2e7") + "\n";
  outbox.github.plant(our_issue(body));
  outbox.github.plant(other_issue("copied: " + body));
  outbox.queue("open-1", OutboxKind::open, body);
  CHECK(outbox.deliver().sent == 1);
  CHECK(outbox.message("open-1").issue_number == 1);
  CHECK(outbox.github.issues().size() == 2);
}

TEST_CASE("an issue of a stranger who copied our marker is not taken for ours") {
  Outbox outbox;
  const auto body = "Slower.\n" + report::marker("open-1:5ec2e7") + "\n";
  outbox.github.plant(other_issue(body));
  auto bot = other_issue(body);
  bot.author = {.login = "torchwatch-machine[bot]", .id = 4242, .type = "Bot", .app = 9};
  outbox.github.plant(bot);
  auto renamed = other_issue(body);  // somebody took the name that we had before
  renamed.author = {.login = test::FakeGithub::owner_of_token().login, .id = 666};
  outbox.github.plant(renamed);
  outbox.queue("open-1", OutboxKind::open, body);
  CHECK(outbox.deliver().sent == 1);
  CHECK(outbox.message("open-1").issue_number == 4);
}

TEST_CASE("a comment of a stranger who copied our marker keeps ours from nothing") {
  Outbox outbox;
  outbox.queue("open-1", OutboxKind::open);
  CHECK(outbox.deliver().sent == 1);
  outbox.github.core().with([](auto& core) {
    core.world.issues.at(0).comments.push_back(
        {.body = "Gone.\n" + report::marker("close-1"), .id = 1});
  });
  outbox.queue("close-1", OutboxKind::close, "Gone.");
  CHECK(outbox.deliver().sent == 1);
  const auto comments = outbox.github.issues().at(0).comments;
  REQUIRE(comments.size() == 2);
  CHECK(comments[1].author.login == test::FakeGithub::owner_of_token().login);
}

TEST_CASE("a pull request that quotes the marker is not taken for the issue") {
  Outbox outbox;
  auto quote = our_issue(report::marker("open-1"));
  quote.is_pull_request = true;
  outbox.github.plant(quote);
  outbox.queue("open-1", OutboxKind::open);
  CHECK(outbox.deliver().sent == 1);
  CHECK(outbox.message("open-1").issue_number == 2);
}

TEST_CASE("the look-up ends where issues are older than the incident") {
  Outbox outbox;
  auto old = other_issue("");
  old.created_at = "2020-01-01T00:00:00Z";
  for (int i = 0; i < 150; ++i) outbox.github.plant(old);
  outbox.queue("open-1", OutboxKind::open);
  CHECK(outbox.deliver().sent == 1);
  CHECK(outbox.github.requests().size() == 4);  // labels, who we are, one page, the issue
}

TEST_CASE("a comment is said once, also when it is on a later page") {
  Outbox outbox;
  outbox.queue("open-1", OutboxKind::open);
  CHECK(outbox.deliver().sent == 1);
  auto with_comments = other_issue("");
  outbox.queue("comment-1", OutboxKind::comment);
  for (int i = 0; i < 120; ++i) outbox.queue("c" + std::to_string(i), OutboxKind::comment);
  CHECK(outbox.deliver().sent == 121);
  CHECK(outbox.github.issues()[0].comments.size() == 121);

  // The database goes back to before the comment was noted as sent; GitHub does not.
  outbox.queue("comment-2", OutboxKind::comment);
  outbox.github.fail_next({"POST", test::Fault::Kind::cut, true, 0, {}, ""});
  CHECK(outbox.deliver().postponed == 1);
  outbox.deliver_all();
  CHECK(outbox.message("comment-2").state == OutboxState::sent);
  CHECK(outbox.github.issues()[0].comments.size() == 122);
}

TEST_CASE("labels that GitHub drops silently are not an error, and the log says which") {
  for (const bool drops : {true, false}) {
    Outbox outbox;
    if (drops) outbox.github.drop_labels();
    outbox.queue("open-1", OutboxKind::open);
    auto settings = outbox.settings();
    settings.labels = {"Torchwatch", "perf"};
    std::ostringstream text;
    log::Log log({.level = log::Level::warning}, text);
    OutboxStore messages(*outbox.database);
    github::OutboxSender sender(messages, *outbox.http, outbox.clock, settings,
                                log.logger("github"));
    CHECK(sender.deliver_due({}).value().sent == 1);
    CHECK((text.str().find("may not push to the repository: Torchwatch perf") !=
           std::string::npos) == drops);
    CHECK(text.str().empty() != drops);
    // GitHub takes "Torchwatch" for the "torchwatch" that is there.
    CHECK(outbox.github.of_repository().labels().size() == (drops ? 1U : 2U));
  }
}

TEST_CASE("an issue of another repository is left alone, whatever its number") {
  Outbox outbox;
  tell_the_whole_story(outbox);
  outbox.queue("reopened-1", OutboxKind::reopen, "It is not.");
  test::FakeGithub other("owner/real", kToken, github_description(), &outbox.clock);
  other.plant(other_issue("Of somebody else."));
  auto settings = outbox.settings();
  settings.repository = "owner/real";
  settings.api = other.url();
  OutboxStore messages(*outbox.database);
  github::OutboxSender sender(messages, *outbox.http, outbox.clock, settings);
  CHECK(sender.deliver_due({}).value().sent == 0);
  CHECK(other.issues().at(0).comments.empty());
  CHECK(outbox.message("reopened-1").state == OutboxState::pending);
  CHECK(outbox.message("reopened-1").last_error.empty());
  CHECK(outbox.deliver().sent == 1);  // to the one where the issue is
  CHECK(outbox.github.issues().at(0).state == "open");
}

TEST_CASE("somebody who cannot be assigned keeps no issue from being filed") {
  const bool may_push = GENERATE(true, false);
  Outbox outbox;
  outbox.github.core().with([&](auto& core) {
    core.world.cannot_be_assigned = {"gone"};
    core.world.drops_labels = !may_push;
  });
  outbox.queue("open-1", OutboxKind::open);
  auto settings = outbox.settings();
  settings.assignees = {"ada", "gone"};
  std::ostringstream text;
  log::Log log({.level = log::Level::warning}, text);
  OutboxStore messages(*outbox.database);
  github::OutboxSender sender(messages, *outbox.http, outbox.clock, settings, log.logger("github"));
  CHECK(sender.deliver_due({}).value().sent == 1);
  CHECK(outbox.github.issues().at(0).assignees.size() == (may_push ? 1U : 0U));
  CHECK_THAT(text.str(), Catch::Contains("GitHub did not assign an issue") &&
                             Catch::Contains(may_push ? "there: gone" : "there: ada gone"));
}

TEST_CASE("a locked issue is closed, without the comment that nobody may make") {
  Outbox outbox;
  outbox.queue("open-1", OutboxKind::open);
  CHECK(outbox.deliver().sent == 1);
  outbox.github.of_repository().lock(1);
  outbox.queue("close-1", OutboxKind::close, "Gone.");
  CHECK(outbox.deliver().sent == 1);
  CHECK(outbox.github.issues().at(0).state == "closed");
  CHECK(outbox.github.issues().at(0).comments.empty());
}

TEST_CASE("a title that somebody gave an issue stays until torchwatch has another one") {
  Outbox outbox;
  outbox.queue("open-1", OutboxKind::open);
  CHECK(outbox.deliver().sent == 1);
  outbox.github.core().with([](auto& core) { core.world.issues.at(0).title = "mm packs twice"; });
  const auto edit = [&](const std::string& key, const std::string& title) {
    OutboxRow row;
    row.key = key;
    row.incident = outbox.incident;
    row.kind = OutboxKind::edit;
    row.title = title;
    row.body = "The text of " + key;
    REQUIRE(OutboxStore(*outbox.database).queue(row));
    CHECK(outbox.deliver().sent == 1);
    const auto issue = outbox.github.issues().at(0);
    CHECK(issue.body == row.body);
    return issue.title;
  };
  CHECK(edit("edit-1", outbox.message("open-1").title) == "mm packs twice");
  CHECK(edit("edit-2", "resnet18 is slower by c0ffee") == "resnet18 is slower by c0ffee");
  CHECK(edit("edit-3", "resnet18 is slower by c0ffee") == "resnet18 is slower by c0ffee");
}
TEST_CASE("a renamed repository's redirects are followed within the configured origin") {
  Outbox outbox;
  outbox.github.rename_repository();
  outbox.queue("open-1", OutboxKind::open);
  outbox.queue("close-1", OutboxKind::close);
  CHECK(outbox.deliver().sent == 2);
  CHECK(outbox.github.issues().at(0).state == "closed");
}

TEST_CASE("settings that can never work are an error before anything is touched") {
  Outbox outbox;
  outbox.queue("open-1", OutboxKind::open);
  OutboxStore messages(*outbox.database);
  for (const auto& [repository, api] :
       std::vector<std::pair<std::string, std::string>>{{"no-slash", outbox.github.url()},
                                                        {"owner/../x", outbox.github.url()},
                                                        {kRepository, "http://api.github.com"},
                                                        {kRepository, "ftp://127.0.0.1"}}) {
    auto settings = outbox.settings();
    settings.repository = repository;
    settings.api = api;
    github::OutboxSender sender(messages, *outbox.http, outbox.clock, settings);
    const auto delivery = sender.deliver_due({});
    REQUIRE_FALSE(delivery);
    CHECK(delivery.error().code == ErrorCode::invalid);
    CHECK(delivery.error().message.starts_with("[github]"));
  }
  CHECK(outbox.message("open-1").state == OutboxState::pending);
}
