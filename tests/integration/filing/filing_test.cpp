// Which incidents get an issue, when, and whom it reaches.
#include <algorithm>
#include <catch2/catch.hpp>

#include "filing_fixture.hpp"
#include "sample_facts.hpp"
#include "torchwatch/filing/digest.hpp"
#include "torchwatch/issues/notices.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using config::FileWhen;
using storage::OutboxKind;

namespace {

enum class End { named, likely, set, none, not_reproduced, leak, lost };

report::IncidentFacts ended(End end) {
  if (end == End::leak) return leaking_comparison();
  if (end == End::lost) return lost_comparison();
  auto facts = slowdown("resnet18");
  auto& search = *facts.bisection;
  auto& culprit = search.culprits.front();
  if (end == End::likely) culprit.confidence = 0.93;
  if (end == End::set) culprit.commits.resize(3, culprit.commits.front());
  if (end == End::none || end == End::not_reproduced) search.culprits.clear();
  search.did_not_reproduce = end == End::not_reproduced;
  return facts;
}

report::IncidentFacts not_searched_yet() {
  auto facts = slowdown("resnet18");
  facts.bisection.reset();
  return facts;
}

std::size_t count(const std::vector<storage::OutboxRow>& messages, OutboxKind kind) {
  return static_cast<std::size_t>(std::ranges::count(messages, kind, &storage::OutboxRow::kind));
}

config::Config::Github with(FileWhen when) {
  config::Config::Github settings;
  settings.file_when = when;
  return settings;
}

/// Why an incident with that end has no issue; empty: it has one.
std::string unfiled(FileWhen when, End end) {
  FilingDay day(with(when));
  const auto id = day.add(ended(end)).id;
  day.judge();
  day.report();
  CHECK(day.broken_invariants().empty());
  const auto why = day.incident(id).unfiled;
  CHECK(count(day.messages(id), OutboxKind::open) == (why.empty() ? 1 : 0));
  CHECK_FALSE(day.incident(id).title.empty());
  return why;
}

}  // namespace

TEST_CASE("file_when searched files whatever the search found, but not what did not reproduce") {
  for (const auto end : {End::named, End::likely, End::set, End::none, End::leak, End::lost}) {
    CHECK(unfiled(FileWhen::searched, end).empty());
  }
  CHECK(unfiled(FileWhen::searched, End::not_reproduced) == "the change did not reproduce");
}

TEST_CASE("file_when named files what has a named commit, and what is not searched") {
  for (const auto end : {End::named, End::leak, End::lost}) {
    CHECK(unfiled(FileWhen::named, end).empty());
  }
  for (const auto end : {End::likely, End::set, End::none}) {
    CHECK(unfiled(FileWhen::named, end) == "no commit is named");
  }
  CHECK(unfiled(FileWhen::named, End::not_reproduced) == "the change did not reproduce");
}

TEST_CASE("file_when named files what names a commit beside a larger cause, not one in doubt") {
  const auto filed = [](const report::IncidentFacts& facts) {
    FilingDay day(with(FileWhen::named));
    const auto id = day.add(facts).id;
    day.report();
    return day.incident(id).unfiled.empty();
  };
  auto facts = ended(End::named);
  auto& culprits = facts.bisection->culprits;
  culprits.insert(culprits.begin(), culprits.front());
  culprits.front().commits.resize(2, culprits.front().commits.front());
  CHECK(filed(facts));
  culprits.back().revert = bisection::RevertOutcome::change_stays;
  CHECK_FALSE(filed(facts));
}

TEST_CASE("file_when at_once files before the search, and says later what it found") {
  for (const auto end : {End::named, End::none, End::not_reproduced}) {
    FilingDay day(with(FileWhen::at_once));
    const auto id = day.add(not_searched_yet()).id;
    day.judge();
    REQUIRE(count(day.messages(id), OutboxKind::open) == 1);
    const auto filed = day.messages(id).front();
    CHECK_THAT(filed.title, Contains("+15 % time: resnet18"));
    day.know(id, ended(end));
    day.report();
    const auto messages = day.messages(id);
    CHECK(count(messages, OutboxKind::open) == 1);
    CHECK(count(messages, OutboxKind::edit) == 1);
    CHECK(count(messages, OutboxKind::comment) == (end == End::named ? 1 : 0));
    CHECK(day.incident(id).title == messages[1].title);
    CHECK(day.broken_invariants().empty());
  }
}

TEST_CASE("a later search that names a commit files what had no issue, and edits what had one") {
  FilingDay day(with(FileWhen::named));
  const auto unnamed = day.add(ended(End::set)).id;
  const auto named = day.add(ended(End::named)).id;
  day.report();
  CHECK(day.messages(unnamed).empty());
  day.know(unnamed, ended(End::named));
  day.know(named, ended(End::none));
  for (const auto id : {unnamed, named}) day.refile(id);
  CHECK(count(day.messages(unnamed), OutboxKind::open) == 1);
  CHECK(day.incident(unnamed).unfiled.empty());
  REQUIRE(count(day.messages(named), OutboxKind::edit) == 1);
  CHECK_THAT(day.messages(named).back().title, Contains("cause unknown"));
  CHECK_THAT(day.messages(named).back().body, Catch::StartsWith("*Now:* searched again"));
  CHECK(day.broken_invariants().empty());
}

TEST_CASE(
    "the largest changes of a comparison get issues up to the cap, one issue lists the rest") {
  config::Config::Github settings;
  settings.issues_per_night = 3;
  FilingDay day(settings);
  for (const double ratio : {1.08, 1.30, 1.07, 1.20, 1.09}) day.add(slowdown("dlrm", ratio));
  const auto lost = day.add(lost_comparison()).id;
  day.report();
  for (const storage::Id id : {storage::Id{2}, storage::Id{4}, lost}) {
    CHECK(count(day.messages(id), OutboxKind::open) == 1);
  }
  for (const storage::Id id : {1, 3, 5}) {
    CHECK(day.messages(id).empty());
    CHECK(day.incident(id).unfiled == "it stands in one issue with others");
  }
  const auto umbrella = day.all_messages().back();
  CHECK(umbrella.kind == OutboxKind::umbrella);
  CHECK(umbrella.title == "[perf] 3 more incidents: 2026-08-17");
  for (const storage::Id id : {1, 3, 5}) {
    CHECK_THAT(umbrella.body, Contains(day.incident(id).title));
  }
  CHECK(day.broken_invariants().empty());
}

TEST_CASE("issues that were filed at once count for the cap, too") {
  auto settings = with(FileWhen::at_once);
  settings.issues_per_night = 2;
  FilingDay day(settings);
  for (const double ratio : {1.1, 1.3, 1.2}) day.add(slowdown("dlrm", ratio));
  day.judge();
  day.report();
  CHECK(day.messages(1).empty());
  CHECK(count(day.messages(2), OutboxKind::open) == 1);
  CHECK(count(day.messages(3), OutboxKind::open) == 1);
  CHECK(day.all_messages().back().kind == OutboxKind::umbrella);
}

TEST_CASE("owners of a workload, and of a file that the culprit changes, are mentioned") {
  config::Config::Github settings;
  settings.cc = {"ada"};
  settings.owners = {{.workloads = {"resnet18"}, .notify = {"vision/team"}},
                     {.paths = {"aten/**"}, .notify = {"ada", "linalg"}},
                     {.paths = {"torch/csrc/**"}, .notify = {"frontend"}},
                     {.workloads = {"dlrm"}, .notify = {"recsys"}}};
  FilingDay day(settings);
  const auto id = day.add(slowdown("resnet18")).id;
  const auto other = day.add(ended(End::set)).id;
  day.report();
  CHECK_THAT(day.messages(id).front().body, Contains("\ncc @ada @vision/team @linalg\n"));
  CHECK_THAT(day.messages(other).front().body, Contains("\ncc @ada @vision/team\n"));
}

TEST_CASE("a digest lists the improvements of the month before, once, and only where it is asked") {
  const auto queued = [](bool is_asked) {
    config::Config::Github settings;
    settings.monthly_digest = is_asked;
    FilingDay day(settings);
    auto services = day.services();
    storage::VerdictRow verdict;
    verdict.comparison = day.comparison().id;
    verdict.series = {{"dlrm", {Device::cpu, Mode::train}, {}}, Metric::time};
    verdict.verdict = Verdict::improved;
    verdict.ratio = 0.8;
    storage::ComparisonStore comparisons(services.database);
    REQUIRE(comparisons.add_verdict(verdict));
    day.report();
    day.execute("UPDATE comparison SET ended_at = " + std::to_string(day.clock.wall_now()));
    auto nightly = day.comparison();
    nightly.id += 1;
    for (const int days : {0, 31, 1, 31}) {
      day.clock.advance(std::chrono::hours(24 * days));
      day.change([&] { return filing::queue_digest(services, nightly); });
    }
    return day.all_messages();
  };
  CHECK(queued(false).empty());
  const auto messages = queued(true);
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].kind == OutboxKind::digest);
  CHECK_THAT(messages[0].title, Catch::StartsWith("[digest] 1 improvement in "));
  CHECK_THAT(messages[0].body, Contains("-20.0 %"));
}

TEST_CASE("an issue names the commands of comments where comments are read, also when edited") {
  for (const bool is_read : {true, false}) {
    auto settings = with(FileWhen::at_once);
    settings.command_prefix = "/tw-";
    if (!is_read) settings.poll = std::chrono::seconds(0);
    FilingDay day(settings);
    const auto id = day.add(not_searched_yet()).id;
    day.judge();
    day.know(id, ended(End::named));
    day.report();
    day.know(id, ended(End::named));
    day.refile(id);
    std::vector<std::string> texts;
    for (const auto& message : day.messages(id)) {
      const bool is_text = message.kind == OutboxKind::open || message.kind == OutboxKind::edit;
      if (is_text) texts.push_back(message.body);
    }
    REQUIRE(texts.size() >= 2);
    for (const auto& text : texts) {
      CHECK((text.find("`/tw-ack REASON`") != std::string::npos) == is_read);
    }
    CHECK((texts.back().find("`/tw-wrong REASON`") != std::string::npos) == is_read);
  }
}
