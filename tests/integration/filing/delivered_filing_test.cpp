// What GitHub has of incidents in the end.
#include <algorithm>
#include <catch2/catch.hpp>

#include "filing_fixture.hpp"
#include "sample_facts.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/issues/notices.hpp"
#include "torchwatch/pages/pages.hpp"
#include "torchwatch/site/sources.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

config::Config::Github telling_everybody() {
  config::Config::Github settings;
  settings.assign_author = true;
  settings.comment_on_pull = true;
  return settings;
}

test::FakeGithub::Issue pull_request() {
  test::FakeGithub::Issue pull;
  pull.title = "Check every element in addmm before the call";
  pull.is_pull_request = true;
  return pull;
}

/// Facts whose culprit's subject ends with "(#1)", or with nothing.
report::IncidentFacts by_pull(const std::string& end) {
  auto facts = slowdown("resnet18");
  facts.bisection->culprits.front().commits.front().subject = "Check every element" + end;
  return facts;
}

/// The issues without the pull requests.
std::vector<test::FakeGithub::Issue> issues(const FilingDay& day) {
  auto all = day.github.issues();
  std::erase_if(all, [](const auto& issue) { return issue.is_pull_request; });
  return all;
}

/// The text of an incident's page, as `/incidents/ID.md` serves it.
std::string text_of(FilingDay& day, storage::Id incident) {
  pages::Sources sources{.database = day.services().database, .clock = day.clock};
  return pages::text_of(std::move(sources), "/incidents/" + std::to_string(incident)).value();
}

test::Fault lost_answer() {
  test::Fault fault;
  fault.done = true;
  return fault;
}

}  // namespace

TEST_CASE("the author of a named commit is assigned, and its pull request gets one comment") {
  for (const auto* end : {" (#1)", ""}) {
    FilingDay day(telling_everybody());
    day.github.plant(pull_request());
    day.github.of_repository().plant({kCulprit, "ada-l", "User", {1}});
    const auto id = day.add(by_pull(end)).id;
    day.report();
    day.refile(id);
    CHECK(day.deliver().dead == 0);
    REQUIRE(issues(day).size() == 1);
    const auto issue = issues(day).front();
    CHECK(issue.assignees == std::vector<std::string>{"ada-l"});
    const auto pull = day.github.issues().front();
    REQUIRE(pull.comments.size() == 1);
    CHECK_THAT(pull.comments[0].body, Contains("made `resnet18 cpu-train` slower by 15") &&
                                          Contains("The issue: owner/name#2."));
  }
}

TEST_CASE("an author whom GitHub does not know, or who is a program, is not assigned") {
  for (const auto& commit :
       {test::FakeCommit{kCulprit, "", "User", {}}, test::FakeCommit{kCulprit, "merger", "Bot", {}},
        test::FakeCommit{"0000000000000000000000000000000000000000", "eve", "User", {}}}) {
    FilingDay day(telling_everybody());
    day.github.of_repository().plant(commit);
    day.add(by_pull(""));
    day.report();
    const auto delivery = day.deliver();
    CHECK(delivery.dead + delivery.postponed == 0);
    CHECK(issues(day).front().assignees.empty());
    CHECK(day.all_messages().empty());
  }
}

TEST_CASE("nobody is assigned and no pull request commented on unless that is configured") {
  FilingDay day({});
  day.github.plant(pull_request());
  day.github.of_repository().plant({kCulprit, "ada-l", "User", {1}});
  day.add(by_pull(" (#1)"));
  day.report();
  day.deliver();
  CHECK(issues(day).front().assignees.empty());
  CHECK(day.github.issues().front().comments.empty());
}

TEST_CASE("a commit that is only likely gets no comment, and its author is not assigned") {
  FilingDay day(telling_everybody());
  day.github.plant(pull_request());
  auto facts = by_pull(" (#1)");
  facts.bisection->culprits.front().confidence = 0.93;
  day.add(facts);
  day.report();
  day.deliver();
  CHECK(day.github.issues().front().comments.empty());
  CHECK(issues(day).size() == 1);
}

TEST_CASE("a commit without which the change stays gets no comment, and nobody is assigned") {
  FilingDay day(telling_everybody());
  day.github.plant(pull_request());
  day.github.of_repository().plant({kCulprit, "ada-l", "User", {1}});
  auto facts = by_pull(" (#1)");
  facts.bisection->culprits.front().revert = bisection::RevertOutcome::change_stays;
  day.add(facts);
  day.report();
  day.deliver();
  CHECK(day.github.issues().front().comments.empty());
  REQUIRE(issues(day).size() == 1);
  CHECK(issues(day).front().assignees.empty());
  CHECK_THAT(issues(day).front().body, Contains("The change stays when this commit is taken out"));
}

TEST_CASE("the comment on a pull request gives its commit no more than that was measured to do") {
  FilingDay day(telling_everybody());
  day.github.plant(pull_request());
  auto facts = by_pull(" (#1)");
  auto& culprits = facts.bisection->culprits;
  auto larger = culprits.front();
  larger.commits.resize(2, larger.commits.front());
  larger.commits[0].sha.assign(40, 'b');
  larger.commits[1].sha.assign(40, 'c');
  auto& own = culprits.front().effects.front();
  own.ratio = 1.04;
  own.interval_low = 1.031;
  own.interval_high = 1.049;
  culprits.insert(culprits.begin(), larger);
  day.add(facts);
  day.report();
  day.deliver();
  const auto pull = day.github.issues().front();
  REQUIRE(pull.comments.size() == 1);
  CHECK_THAT(pull.comments[0].body,
             Contains("made `resnet18 cpu-train` slower by 4.0 % [+3.1, +4.9], a part of the "
                      "change.**\n\nThe commit is one of 2 causes of this change: The time") &&
                 !Contains("bbbb"));
  CHECK_THAT(issues(day).front().title, Contains("time by 2 causes: resnet18"));
}

TEST_CASE("a pull request that is locked keeps no other message back") {
  FilingDay day(telling_everybody());
  day.github.plant(pull_request());
  day.github.of_repository().lock(1);
  day.add(by_pull(" (#1)"));
  auto other = slowdown("dlrm");
  other.bisection.reset();
  day.add(other);
  day.report();
  const auto delivery = day.deliver();
  CHECK(delivery.dead == 1);
  CHECK_THAT(delivery.problem, Contains("locked"));
  CHECK(issues(day).size() == 2);
}

TEST_CASE("what becomes of an incident is said above its issue's text, and the marker stays") {
  FilingDay day({});
  const auto row = day.add(slowdown("resnet18"));
  day.report();
  day.deliver();
  const auto filed = issues(day).front();
  auto services = day.services();
  day.change([&]() -> Status {
    TW_TRY_VOID(filing::set_state(services, row, report::state_found_again("2026-08-18")));
    TW_TRY_VOID(filing::set_state(services, row, report::state_gone("2026-08-19")));
    return filing::follow_up(services, row, storage::OutboxKind::close, "gone", "Gone.");
  });
  day.deliver();
  const auto now = issues(day).front();
  CHECK(now.body == "*Now:* gone in `2026-08-19`.\n\n" + filed.body);
  CHECK(report::marker_in(now.body) == report::marker_in(filed.body));
  CHECK(now.title == filed.title);
  CHECK(now.state == "closed");
  CHECK(now.comments.size() == 1);
}

TEST_CASE("the text of an incident's page is its issue as GitHub has it, and what was said below") {
  FilingDay day({});
  std::vector<storage::IncidentRow> incidents;
  for (const auto* workload : {"resnet18", "dlrm", "bert"}) {
    incidents.push_back(day.add(slowdown(workload)));
  }
  day.report();
  day.deliver();
  REQUIRE(issues(day).size() == incidents.size());
  const auto issue_of = [&](const storage::IncidentRow& row) {
    return day.github.issues().at(static_cast<std::size_t>(*day.incident(row.id).issue_number) - 1);
  };
  for (const auto& row : incidents) {
    const auto filed = issue_of(row);
    CHECK(filed.title.find(row.series.front().series.benchmark.workload) != std::string::npos);
    CHECK(text_of(day, row.id) == "# " + filed.title + "\n\n" + filed.body + "\n");
  }
  auto services = day.services();
  day.change([&]() -> Status {
    TW_TRY_VOID(filing::set_state(services, incidents[1], report::state_found_again("2026-08-18")));
    return filing::follow_up(services, incidents[1], storage::OutboxKind::comment, "again",
                             "Found again.");
  });
  day.deliver();
  const auto now = issue_of(incidents[1]);
  REQUIRE(now.comments.size() == 1);
  CHECK_THAT(now.body, Catch::StartsWith("*Now:* "));
  CHECK_THAT(text_of(day, incidents[1].id),
             Catch::StartsWith("# " + now.title + "\n\n" + now.body + "\n") &&
                 Catch::EndsWith(now.comments[0].body + "\n"));
}

TEST_CASE("a comparison's issues and its umbrella are opened once, also where answers are lost") {
  config::Config::Github settings;
  settings.issues_per_night = 2;
  settings.labels = {"torchwatch", "module: performance"};
  FilingDay day(settings);
  for (const double ratio : {1.1, 1.2, 1.3, 1.4}) day.add(slowdown("dlrm", ratio));
  day.report();
  for (int i = 0; i < 5; ++i) day.github.fail_next(lost_answer());
  day.deliver();
  CHECK(day.all_messages().empty());
  const auto filed = issues(day);
  REQUIRE(filed.size() == 3);
  CHECK(std::ranges::count_if(filed, [](const auto& issue) {
          return issue.title == "[perf] 2 more incidents: 2026-08-17";
        }) == 1);
  CHECK(day.github.of_repository().labels() == settings.labels);
  for (const auto& issue : filed) CHECK(issue.labels == settings.labels);
}

TEST_CASE("labels that the token may not make keep no issue back") {
  FilingDay day({});
  day.github.drop_labels();
  day.add(slowdown("dlrm"));
  day.report();
  CHECK(day.deliver().postponed == 0);
  REQUIRE(issues(day).size() == 1);
  CHECK(issues(day).front().labels.empty());
}
