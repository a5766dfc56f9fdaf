#include "filed_incidents.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "sample_facts.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

constexpr std::size_t kCap = 3;  ///< issues of a comparison

/// What [github] file_when says, as docs/github.md has it.
bool is_let_through(config::FileWhen when, End end) {
  switch (when) {
    case config::FileWhen::at_once:
      return true;
    case config::FileWhen::searched:
      return end != End::not_reproduced;
    case config::FileWhen::named:
      return end == End::named || end == End::nothing_to_search;
  }
  return false;
}

/// Facts of which little is said: very many texts are made, sent and read.
report::IncidentFacts facts_of_kind(IncidentKind kind, double ratio) {
  auto facts = kind == IncidentKind::leak   ? leaking_comparison()
               : kind == IncidentKind::lost ? lost_comparison()
                                            : slower_comparison();
  if (!facts.effects.empty()) facts.effects.resize(1);
  if (kind == IncidentKind::regression) facts.effects.front().ratio = ratio;
  for (auto* text : {&facts.reproduce, &facts.test_suspect, &facts.torchbench}) text->clear();
  facts.machine.clear();
  facts.output.clear();
  facts.drawings = {};
  return facts;
}

void end_search(report::IncidentFacts& facts, End end) {
  facts.bisection = slower_comparison().bisection;
  auto& search = *facts.bisection;
  auto& culprit = search.culprits.front();
  culprit.effects.clear();
  culprit.commits.front().changed_paths.clear();
  search.skipped.clear();
  if (end == End::likely) culprit.confidence = 0.93;
  if (end == End::set) culprit.commits.resize(3, culprit.commits.front());
  if (end == End::none || end == End::not_reproduced) search.culprits.clear();
  search.did_not_reproduce = end == End::not_reproduced;
  if (end == End::nothing_to_search) facts.bisection.reset();
}

}  // namespace

FiledIncidents::FiledIncidents(comparison::Services& parts, config::FileWhen file_when,
                               const platform::Clock& clock, test::FakeGithubCore& github)
    : parts_(parts), config_(parts.config), clock_(clock), github_(github) {
  config_.github.repository = "owner/name";
  config_.github.file_when = file_when;
  config_.github.issues_per_night = static_cast<int>(kCap);
}

filing::FactsOf FiledIncidents::facts_of() {
  return [this](const IncidentRow& row) -> Result<report::IncidentFacts> {
    const auto told = std::ranges::find(told_, row.id, &Told::incident);
    auto facts = facts_of_kind(told->kind, told->ratio);
    end_search(facts, told->end.value_or(End::nothing_to_search));
    return facts;
  };
}

IncidentRow FiledIncidents::row_of(const Told& told) const {
  return IncidentStore(*database_).get(told.incident).value();
}

std::vector<OutboxRow> FiledIncidents::messages_of(const Told& told) const {
  return OutboxStore(*database_).of_incident(told.incident).value();
}

/// Stores what that does; who dies first has stored nothing, and does it again.
void FiledIncidents::store(const std::function<Status(comparison::Services&)>& change,
                           bool dies_first) {
  comparison::Services services{.config = config_,
                                .database = *database_,
                                .executor = parts_.executor,
                                .runners = parts_.runners,
                                .channel = parts_.channel,
                                .clock = clock_,
                                .random = parts_.random,
                                .progress = parts_.progress};
  const auto die = [&]() -> Status {
    TW_TRY_VOID(change(services));
    return fail(ErrorCode::cancelled, "killed");
  };
  if (dies_first) REQUIRE_FALSE(database_->transact(die));
  REQUIRE(database_->transact([&] { return change(services); }));
}

void FiledIncidents::open_comparison(int count, int which) {
  Compared compared;
  const auto name = "build " + std::to_string(compared_.size() + 1);
  const auto build = BuildStore(*database_).discover(BuildOrigin::nightly, name);
  compared.row = ComparisonStore(*database_)
                     .open({Purpose::nightly, build.value().id, std::nullopt}, 1)
                     .value();
  for (int number = 0; number <= count % 5; ++number) add_incident(compared, which + 7 * number);
  store([&](auto& services) { return filing::file_at_once(services, compared.row, facts_of()); },
        which % 4 == 0);
  if (config_.github.file_when == config::FileWhen::at_once) let_in(compared.incidents, kCap);
  compared_.push_back(std::move(compared));
}

void FiledIncidents::add_incident(Compared& compared, int which) {
  constexpr std::array kKinds{IncidentKind::regression, IncidentKind::leak, IncidentKind::lost,
                              IncidentKind::regression};
  Told told;
  told.kind = kKinds[static_cast<std::size_t>(which) % kKinds.size()];
  told.ratio = 1.1 + 0.001 * static_cast<double>(told_.size());
  IncidentRow row;
  row.comparison = compared.row.id;
  row.key = "key-" + std::to_string(told_.size());
  row.kind = told.kind;
  row.title = "not titled yet";
  row.opened_at = clock_.wall_now();
  told.incident = IncidentStore(*database_).open(row).value().id;
  told.marker = "open-" + row.key + "-" + std::to_string(told.incident) + ":";
  compared.incidents.push_back(told_.size());
  told_.push_back(std::move(told));
}

std::size_t FiledIncidents::let_in(const std::vector<std::size_t>& candidates, std::size_t places) {
  if (candidates.size() <= places) {
    for (const auto which : candidates) told_[which].has_issue = true;
    return 0;
  }
  // Who of too many gets an issue the service may choose, but nothing lost and no larger slowdown
  // may stand behind.
  std::size_t in = 0;
  for (const auto which : candidates) {
    auto& told = told_[which];
    told.has_issue = !messages_of(told).empty();
    if (told.has_issue) ++in;
  }
  CHECK(in == places);
  for (const auto first : candidates) {
    for (const auto second : candidates) {
      const auto& in_front = told_[first];
      const auto& behind = told_[second];
      if (!in_front.has_issue || behind.has_issue) continue;
      if (behind.kind == IncidentKind::lost) CHECK(in_front.kind == IncidentKind::lost);
      const bool are_slow =
          in_front.kind == IncidentKind::regression && in_front.kind == behind.kind;
      if (are_slow) CHECK(in_front.ratio > behind.ratio);
    }
  }
  return candidates.size() - in;
}

bool FiledIncidents::report_next(int ends, bool dies_first) {
  const auto compared = std::ranges::find(compared_, false, &Compared::is_reported);
  if (compared == compared_.end()) return false;
  std::vector<std::size_t> without_issue;
  std::size_t opened = 0;
  for (const auto which : compared->incidents) {
    auto& told = told_[which];
    told.end = static_cast<End>((ends + 5 * static_cast<int>(which)) % kEnds);
    if (told.has_issue) {
      ++opened;
      const auto naming = "named-" + std::to_string(told.incident) + ":";
      if (told.end == End::named) told.comments.push_back(naming);
    } else if (is_let_through(config_.github.file_when, *told.end)) {
      without_issue.push_back(which);
    }
  }
  store([&](auto& services) { return filing::file_incidents(services, compared->row, facts_of()); },
        dies_first);
  compared->beyond = let_in(without_issue, kCap - opened);
  compared->is_reported = true;
  return true;
}

void FiledIncidents::search_again(int which, int end) {
  std::vector<std::size_t> reported;
  for (const auto& compared : compared_) {
    if (!compared.is_reported) continue;
    reported.insert(reported.end(), compared.incidents.begin(), compared.incidents.end());
  }
  if (reported.empty()) return;
  auto& told = told_[reported[static_cast<std::size_t>(which) % reported.size()]];
  told.end = static_cast<End>(end % kEnds);
  const auto row = row_of(told);
  store([&](auto& services) { return filing::refile(services, row, facts_of()); }, end % 4 == 0);
  told.has_issue = told.has_issue || is_let_through(config_.github.file_when, *told.end);
}

void FiledIncidents::say(int which, OutboxKind kind) {
  auto& told = told_[static_cast<std::size_t>(which) % told_.size()];
  const auto key = "say-" + std::to_string(told.incident) + "-" + std::to_string(++told.said);
  const auto row = row_of(told);
  store(
      [&](auto& services) {
        return filing::follow_up(services, row, kind, key, "News " + key + ".");
      },
      told.said % 4 == 0);
  if (!told.has_issue) return;
  told.comments.push_back(key + ":");
  if (kind == OutboxKind::close) told.state = "closed";
  if (kind == OutboxKind::reopen) told.state = "open";
}

std::vector<test::GithubIssue> FiledIncidents::ours_with(const std::string& marker) const {
  auto issues = github_.with([](auto& core) { return core.world.issues; });
  std::erase_if(issues, [&](const auto& issue) {
    return !is_ours(issue.author) || issue.body.find(marker) == std::string::npos;
  });
  return issues;
}

void FiledIncidents::check(const Told& told, Complaints& complaints) const {
  const auto ours = ours_with(told.marker);
  if (ours.size() != (told.has_issue ? 1U : 0U)) {
    complaints.push_back(told.marker + " has " + std::to_string(ours.size()) + " issues");
    return;
  }
  const auto row = row_of(told);
  if (told.has_issue != row.unfiled.empty()) {
    complaints.push_back(told.marker + " says of its issue \"" + row.unfiled + "\"");
  }
  if (told.has_issue) check_issue(told, ours.front(), complaints);
}

void FiledIncidents::check_issue(const Told& told, const test::GithubIssue& issue,
                                 Complaints& complaints) const {
  const auto complain = [&](const std::string& what) { complaints.push_back(told.marker + what); };
  std::vector<std::string> said;
  for (const auto& comment : issue.comments) {
    if (!is_ours(comment.author)) continue;
    const auto marker = report::marker_in(comment.body).value_or("none");
    const auto key = marker.find(": ") == std::string::npos ? 0 : marker.find(": ") + 2;
    said.push_back(marker.substr(key, marker.find(':', key) + 1 - key));
  }
  if (said != told.comments) complain(" comments lost, doubled or misplaced");
  if (issue.state != told.state) complain(" is " + issue.state);
  const auto row = row_of(told);
  if (row.issue_number != issue.number) complain(" belongs to another issue");
  // The newest text has arrived, and is that of the search's last answer.
  std::string newest;
  for (const auto& message : messages_of(told)) {
    if (message.kind == OutboxKind::open || message.kind == OutboxKind::edit) newest = message.body;
  }
  if (issue.body != newest || issue.title != row.title) complain(" has an old text");
  const bool claims = issue.body.find("### Culprit") != std::string::npos;
  if (claims != (told.end == End::named)) complain(" blames whom its search does not");
}

void FiledIncidents::check_umbrella(const Compared& compared, Complaints& complaints) const {
  const auto marker = "umbrella-" + std::to_string(compared.row.id) + ":";
  const auto ours = ours_with(marker);
  if (ours.size() != (compared.beyond > 0 ? 1U : 0U)) {
    complaints.push_back(marker + " has " + std::to_string(ours.size()) + " issues");
    return;
  }
  const auto count = std::to_string(compared.beyond) + " more incident";
  if (ours.empty() || ours.front().title.find(count) != std::string::npos) return;
  complaints.push_back(marker + " is called " + ours.front().title);
}

std::vector<std::string> FiledIncidents::complaints() {
  Complaints all;
  for (const auto& told : told_) check(told, all);
  for (const auto& compared : compared_) check_umbrella(compared, all);
  const auto ours = ours_with("");
  if (static_cast<int>(ours.size()) != filed_and_not().first + umbrellas()) {
    all.push_back("too many issues are ours");
  }
  return all;
}

std::pair<int, int> FiledIncidents::filed_and_not() const {
  const auto filed = static_cast<int>(std::ranges::count(told_, true, &Told::has_issue));
  return {filed, static_cast<int>(told_.size()) - filed};
}

int FiledIncidents::umbrellas() const {
  return static_cast<int>(std::ranges::count_if(
      compared_, [](const Compared& compared) { return compared.beyond > 0; }));
}
