// What titles and first sentences say, for each kind of incident and each end of a search.
#include <catch2/catch.hpp>
#include <functional>

#include "golden.hpp"
#include "sample_facts.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/issues/notices.hpp"
#include "torchwatch/report/wording.hpp"

using namespace torchwatch;
using namespace torchwatch::report;
using Catch::Contains;

namespace {

struct Named {
  std::string name;
  IncidentFacts facts;
};

IncidentFacts of_memory() {
  auto facts = slower_comparison();
  facts.effects.resize(1);
  facts.effects.front().series.metric = Metric::cpu_peak;
  facts.effects.front().baseline_value = 300'000'000;
  facts.effects.front().candidate_value = 330'000'000;
  return facts;
}

IncidentFacts of_retained_bytes() {
  auto facts = leaking_comparison();
  facts.effects.front().series.metric = Metric::leak_retained;
  facts.effects.front().candidate_value = 204'800;
  return facts;
}

IncidentFacts lost_with_both() {
  auto facts = lost_comparison();
  facts.effects.front().baseline_value = 0;
  return facts;
}

IncidentFacts of_one_series() {
  auto facts = slower_comparison();
  facts.effects.erase(facts.effects.begin());
  return facts;
}

std::vector<Named> kinds() {
  return {{"time, two workloads", slower_comparison()},
          {"time, one series", of_one_series()},
          {"memory", of_memory()},
          {"leak per iteration", leaking_comparison()},
          {"leak at the end", of_retained_bytes()},
          {"lost", lost_comparison()},
          {"lost with both builds", lost_with_both()}};
}

struct End {
  std::string name;
  std::function<void(IncidentFacts&)> make;
};

void search(IncidentFacts& facts, const std::function<void(BisectionFacts&)>& change) {
  facts.bisection = slower_comparison().bisection;
  change(*facts.bisection);
}

std::vector<End> ends() {
  return {
      {"named", [](auto& facts) { search(facts, [](auto&) {}); }},
      {"named, and another",
       [](auto& facts) { facts.bisection = slower_comparison_with_two_culprits().bisection; }},
      {"likely",
       [](auto& facts) {
         search(facts, [](auto& found) { found.culprits.front().confidence = 0.93; });
       }},
      {"not verified",
       [](auto& facts) {
         search(facts, [](auto& found) { found.culprits.front().verified.clear(); });
       }},
      {"contradicted",
       [](auto& facts) {
         search(facts, [](auto& found) {
           found.culprits.front().revert = bisection::RevertOutcome::change_stays;
         });
       }},
      {"named, and a larger set",
       [](auto& facts) {
         facts.bisection = slower_comparison_with_a_larger_cause_undecided().bisection;
       }},
      {"named, of a part",
       [](auto& facts) {
         search(facts, [](auto& found) {
           auto& effect = found.culprits.front().effects.front();
           effect.ratio = 1.04;
           effect.interval_low = 1.031;
           effect.interval_high = 1.049;
         });
       }},
      {"set",
       [](auto& facts) {
         search(facts, [](auto& found) {
           auto& commits = found.culprits.front().commits;
           commits.resize(3, commits.front());
         });
       }},
      {"suspects",
       [](auto& facts) {
         search(facts, [](auto& found) {
           found.suspects.assign(4, found.culprits.front().commits.front());
           found.culprits.clear();
         });
       }},
      {"none", [](auto& facts) { search(facts, [](auto& found) { found.culprits.clear(); }); }},
      {"not reproduced",
       [](auto& facts) {
         search(facts, [](auto& found) {
           found.culprits.clear();
           found.did_not_reproduce = true;
         });
       }},
      {"not searched", [](auto& facts) { facts.bisection.reset(); }},
  };
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("titles and first sentences of each kind and each end of a search read as accepted") {
  std::string all;
  for (const auto& kind : kinds()) {
    all += "## " + kind.name + "\n\n";
    for (const auto& end : ends()) {
      auto facts = kind.facts;
      end.make(facts);
      const auto title = incident_title(facts);
      CHECK(title.size() <= 80);
      all += end.name + ":\n  " + title + "\n  " + first_line(issue_body(facts)) + "\n";
    }
    all += "\n";
  }
  require_golden("issue_wordings.md", all);
}

TEST_CASE("a title has the form that issues are found by") {
  auto facts = slower_comparison();
  facts.candidate.name = "2026-06-17";
  CHECK(incident_title(facts) ==
        "[perf] +15 % time by 5d1c1c3: 2 workloads, cpu-train, 2026-06-17");
  facts.bisection->culprits.clear();
  CHECK(incident_title(facts) ==
        "[perf] +15 % time, cause unknown: 2 workloads, cpu-train, 2026-06-17");
}

TEST_CASE("a name that is too long for a title is left out of it") {
  auto facts = slower_comparison();
  facts.effects.resize(1);
  facts.effects.front().series.benchmark.workload = std::string(90, 'w');
  CHECK(incident_title(facts) == "[perf] +8.8 % time by 5d1c1c3: 2.14.0.dev20260817");
}

TEST_CASE("a pull request's number is what a subject ends with, and nothing else") {
  CHECK(pull_of("Check every element (#99231)") == "99231");
  for (const auto* subject : {"", "(#)", "(#0)", "(#1a)", "(#12) more", "(#1234567890)", "#12",
                              "Revert \"x (#12)\"", "(#-1)", "(#12"}) {
    CHECK(pull_of(subject).empty());
  }
}

TEST_CASE("the line above an issue's text says the newest state alone, and keeps the marker last") {
  const auto body = issue_body(slower_comparison());
  const auto again = with_state(body, state_found_again("2026-08-18"));
  CHECK_THAT(again, Catch::StartsWith("*Now:* found again in `2026-08-18`.\n\n**"));
  const auto gone = with_state(again, state_gone("`@all`\n"));
  CHECK_THAT(gone, Catch::StartsWith("*Now:* gone in `` `@all`  ``.\n\n**"));
  CHECK_THAT(gone, !Contains("found again"));
  CHECK(marker_in(gone) == marker_in(body));
}

TEST_CASE("an edited text keeps the marker of the text that was filed") {
  auto later = slower_comparison();
  later.key = "something-else";
  const auto filed = issue_body(slower_comparison());
  const auto edited = with_marker_of(issue_body(later), filed);
  CHECK(marker_in(edited) == marker_in(filed));
  CHECK(edited == filed);
}

TEST_CASE("a change has grown when it is more than half as large again") {
  auto facts = slower_comparison();
  storage::IncidentRow before;
  before.series.push_back({.series = facts.effects.back().series, .ratio = 1.152});
  facts.effects.back().ratio = 1.2;
  CHECK_FALSE(has_grown(before, facts));
  facts.effects.back().ratio = 1.25;
  CHECK(has_grown(before, facts));
  CHECK_FALSE(has_grown({}, facts));
}

TEST_CASE("a comment on a pull request names the change, mentions nobody and links the issue") {
  auto facts = slower_comparison();
  facts.cc = {"ada"};
  const auto& culprit = facts.bisection->culprits.front();
  const auto text = with_marker(pull_comment(facts, culprit), "pull-1-99231", "secret");
  CHECK_THAT(text, Contains("made 2 workloads slower") && !Contains("@"));
  const auto linked = with_issue_link(text, "pytorch/perf", 12);
  CHECK_THAT(linked, Contains("\nThe issue: pytorch/perf#12.\n<!-- torchwatch-key: pull-1-99231"));
  CHECK(marker_in(linked) == marker_in(text));
}

TEST_CASE("a comment on a pull request says what its own commit was measured to do, and no more") {
  const auto facts = slower_comparison_with_a_larger_cause_undecided();
  const auto& own = facts.bisection->culprits.back();
  const auto text = pull_comment(facts, own);
  const auto first = first_line(text);
  CHECK_THAT(first, Catch::StartsWith("**[`5d1c1c3f0a9e`](") &&
                        Catch::EndsWith(" made `resnet18 cpu-train` slower by 4.0 % [+3.1, +4.9], "
                                        "a part of the change.**"));
  CHECK_THAT(text,
             Contains("\nThe commit is one of 2 causes of this change: The time per iteration "
                      "of `resnet18 cpu-train` is **18.6 % higher**"));
  // Whoever is blamed for the other part is not told here.
  CHECK_THAT(text, !Contains("71e2b1b2c3d4") && !Contains("14.0 %"));
}

TEST_CASE("a comment on the pull request of each of two culprits names that commit alone") {
  auto facts = slower_comparison_with_two_culprits();
  facts.bisection->suspects.clear();
  const auto& culprits = facts.bisection->culprits;
  const auto first = pull_comment(facts, culprits[0]);
  CHECK_THAT(first, Contains("5d1c1c3f0a9e") && !Contains("71e2b1b2c3d4") &&
                        Contains("made `resnet18 cpu-train` slower by 14.9 % [+13.6, +16.3]"));
  const auto second = pull_comment(facts, culprits[1]);
  CHECK_THAT(second, Contains("71e2b1b2c3d4") && !Contains("5d1c1c3f0a9e") &&
                         Contains("made `dlrm cpu-train` slower by 8.5 % [+7.1, +9.9]"));
}

TEST_CASE("of several causes each has its own effect in the first sentence, the largest first") {
  const auto facts = slower_comparison_with_a_larger_cause_undecided();
  CHECK(incident_title(facts) ==
        "[perf] +19 % time by 2 causes: resnet18, cpu-train, 2.14.0.dev20260817");
  const auto body = issue_body(facts);
  CHECK_THAT(first_line(body),
             Contains("**2 causes together made `resnet18 cpu-train` slower by 18.6 % "
                      "[+16.4, +20.8]: one of 2 commits (+14.0 %) and [`5d1c1c3f0a9e`](") &&
                 Catch::EndsWith(") (+4.0 %).**"));
  CHECK_THAT(body, Contains("| `resnet18 cpu-train` | time | 2.104 ms | 2.495 ms | **+18.6 %** |"));
  CHECK_THAT(naming_comment(facts), Catch::StartsWith(first_line(body)));
}

TEST_CASE("many causes are named up to four, and what may be nothing is given to nobody") {
  auto facts = slower_comparison_with_two_culprits();
  auto& culprits = facts.bisection->culprits;
  auto nothing = culprits[1].effects.front();
  nothing.series.benchmark.workload = "llama";
  nothing.ratio = 1.3;
  nothing.interval_low = 0.9;
  culprits[1].effects.push_back(nothing);
  culprits.resize(6, culprits[1]);
  const auto said = first_line(issue_body(facts));
  CHECK_THAT(said, Contains("**7 causes together made") && Contains(" and 4 more causes.**") &&
                       Contains("(`dlrm cpu-train time` +8.5 %)") && !Contains("llama"));
}

TEST_CASE("a culprit that its revert contradicts is a suspect, and the issue says what was seen") {
  auto facts = slower_comparison();
  auto& culprit = facts.bisection->culprits.front();
  culprit.revert = bisection::RevertOutcome::change_stays;
  culprit.confidence = 0;
  CHECK_FALSE(names_a_commit(facts));
  CHECK_THAT(incident_title(facts), Contains(", likely by 5d1c1c3"));
  const auto body = issue_body(facts);
  CHECK_THAT(
      body, Contains("most likely made 2 workloads slower") &&
                Contains("### Most likely culprit") && !Contains("### Culprit") &&
                !Contains("% sure") && !Contains(" held.") &&
                Contains("(#99231)`, although the change stays when it is taken out.") &&
                Contains("\n\nThe change stays when this commit is taken out of the newest one: it "
                         "did not make the change, or something else makes it now, too.\n"));
}

TEST_CASE("an umbrella lists incidents by quoted titles, with links to their pages alone") {
  const auto body = umbrella_body(
      {{"[perf] @all #1", "https://perf.example/incidents/7"}, {"[leak] b", "javascript:1"}},
      "2026-08-17", 5);
  CHECK_THAT(body, Contains("- `[perf] @all #1`, [its page](https://perf.example/incidents/7)\n"));
  CHECK_THAT(body, Contains("- `[leak] b`\n") && Contains("the 5 largest have"));
  CHECK(umbrella_title(1, "2026-08-17") == "[perf] 1 more incident: 2026-08-17");
}

TEST_CASE("a digest lists improvements, the largest first") {
  auto faster = slower_comparison().effects;
  faster[0].ratio = 0.9;
  faster[1].ratio = 0.7;
  const auto body = digest_body({{"2026-08-03", faster[0]}, {"2026-08-05", faster[1]}}, "2026-08");
  CHECK(body.find("-30.0 %") < body.find("-10.0 %"));
  CHECK_THAT(body, Contains("| `resnet18 cpu-train` | time | `2026-08-05` |"));
  CHECK(digest_title(2, "2026-08") == "[digest] 2 improvements in 2026-08");
}
