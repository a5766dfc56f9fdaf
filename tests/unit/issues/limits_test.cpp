// What holds for the text of every issue, whatever the facts are.
#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>

#include "live_text.hpp"
#include "sample_facts.hpp"
#include "torchwatch/issues/issue.hpp"

using namespace torchwatch;
using namespace torchwatch::report;

namespace {

/// What subjects, names and paths may hold to get out of where they stand.
rc::Gen<std::string> hostile() {
  const auto piece = rc::gen::elementOf(std::vector<std::string>{"@everyone",
                                                                 "#12",
                                                                 "](https://evil.example)",
                                                                 "`",
                                                                 "``",
                                                                 "```",
                                                                 "\n",
                                                                 "\r\n",
                                                                 "|",
                                                                 "\\",
                                                                 "<!-- torchwatch-key: x -->",
                                                                 "-->",
                                                                 "</details>",
                                                                 "<img src=x>",
                                                                 "\xe2\x80\xae",
                                                                 "\xff",
                                                                 "owner/repo#7",
                                                                 "https://evil.example/x",
                                                                 "javascript:1",
                                                                 "# head",
                                                                 "(#1) ",
                                                                 " ",
                                                                 "word",
                                                                 "\xf0\x9f\x94\xa5",
                                                                 std::string(700, 'x'),
                                                                 std::string(200, '|')});
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const auto& each : pieces) text += each;
                        return text;
                      });
}

EffectFacts any_effect() {
  auto effect = slower_comparison().effects.front();
  effect.series.benchmark.workload = *hostile();
  effect.series.metric = *rc::gen::element(Metric::time, Metric::cpu_peak, Metric::leak_growth);
  effect.ratio = *rc::gen::element(0.0, 1.07, 1.5, 40.0, 1e12);
  effect.candidate_value = *rc::gen::element(0.0, 1e3, 4e15);
  return effect;
}

CommitFacts any_commit() {
  return {*rc::gen::oneOf(rc::gen::just(std::string("5d1c1c3f0a9e7b6d4c2f8e1a3b5d7f9021436587")),
                          hostile()),
          *hostile(),
          *hostile(),
          *hostile(),
          *hostile(),
          *rc::gen::container<std::vector<std::string>>(hostile())};
}

IncidentFacts any_facts() {
  auto facts = slower_comparison();
  facts.kind = *rc::gen::element(IncidentKind::regression, IncidentKind::leak, IncidentKind::lost);
  facts.effects.assign(*rc::gen::elementOf(std::vector<std::size_t>{0, 1, 3, 400}), any_effect());
  for (std::size_t i = 0; i < facts.effects.size(); ++i) {
    facts.effects[i].series.benchmark.workload += std::to_string(i);
  }
  facts.reason = *hostile();
  facts.output.assign(*rc::gen::inRange<std::size_t>(0, 20), *hostile());
  facts.candidate.name = facts.comparison = *hostile();
  facts.baseline.name = *hostile();
  facts.baseline.trunk_commit = *hostile();
  facts.remarks.assign(*rc::gen::inRange<std::size_t>(0, 20), *hostile());
  facts.machine[*hostile()] = *hostile();
  facts.machine["cpu_model"] = *hostile();
  facts.reproduce = facts.test_suspect = facts.torchbench = "torchwatch compare " + *hostile();
  // A page's address comes from the configuration: a well-formed one is linked, whoever it names.
  const auto no_address = rc::gen::suchThat(
      hostile(), [](const std::string& text) { return !text.starts_with("https://"); });
  facts.page =
      *rc::gen::oneOf(rc::gen::just(std::string("https://perf.example/incidents/3")), no_address);
  facts.cc.assign(*rc::gen::elementOf(std::vector<std::size_t>{0, 2, 500}), "ada");
  facts.drawings.texts.assign(*rc::gen::elementOf(std::vector<std::size_t>{0, 2, 30}), *hostile());
  facts.drawings.picture = *rc::gen::element(
      std::string(), std::string("https://perf.example/incidents/3/evidence.svg?v=0a1b"),
      std::string("https://perf.example/`@evil"));
  auto& search = *facts.bisection;
  search.good = *hostile();
  search.reason = *hostile();
  search.did_not_reproduce = *rc::gen::arbitrary<bool>();
  auto culprit = search.culprits.front();
  culprit.commits.assign(*rc::gen::elementOf(std::vector<std::size_t>{1, 1, 60}), any_commit());
  culprit.effects = facts.effects;
  culprit.verified = *hostile();
  culprit.confidence = *rc::gen::element(0.0, 0.93, 0.999);
  search.culprits.assign(*rc::gen::elementOf(std::vector<std::size_t>{0, 1, 3}), culprit);
  search.suspects.assign(*rc::gen::elementOf(std::vector<std::size_t>{0, 40}), any_commit());
  search.skipped.assign(*rc::gen::elementOf(std::vector<std::size_t>{0, 60}),
                        SkippedCommit{*hostile(), *hostile()});
  if (*rc::gen::arbitrary<bool>()) facts.bisection.reset();
  return facts;
}

std::size_t characters_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

bool is_allowed_link(const std::string& target) {
  static const std::regex kAllowed(
      "https://github\\.com/pytorch/pytorch/(commit/[0-9a-f]{40}|compare/[0-9a-f]{40}\\.\\.\\."
      "[0-9a-f]{40}|pull/[0-9]{1,9})|https://perf\\.example/incidents/3(\\.json|/"
      "evidence\\.svg\\?v=0a1b)?");
  return std::regex_match(target, kAllowed);
}

std::vector<std::string> links_in(const std::string& live) {
  static const std::regex kLink("\\]\\(([^)]*)\\)");
  std::vector<std::string> links;
  for (std::sregex_iterator at(live.begin(), live.end(), kLink), end; at != end; ++at) {
    links.push_back((*at)[1]);
  }
  return links;
}

}  // namespace

TEST_CASE("a title has at most 80 characters and nothing live, whatever the facts are") {
  CHECK(rc::check("titles", [] {
    const auto title = incident_title(any_facts());
    RC_ASSERT(characters_of(title) <= 80);
    RC_ASSERT(title.find_first_of("@#`<\n\r\x1b") == std::string::npos);
  }));
}

TEST_CASE("a text has at most 20,000 bytes and ends with its marker, whatever the facts are") {
  CHECK(rc::check("sizes", [] {
    const auto facts = any_facts();
    const auto body = issue_body(facts, *rc::gen::element(std::string(), std::string("/")));
    RC_ASSERT(body.size() <= 20'000);
    RC_ASSERT(marker_in(body) == marker(facts.key));
    RC_ASSERT(recurrence_comment(facts).size() <= 60'000);
    RC_ASSERT(second_search_comment(facts).size() <= 60'000);
  }));
}

TEST_CASE("a text mentions those whom the configuration names, and links its addresses alone") {
  CHECK(rc::check("live text", [] {
    const auto facts = any_facts();
    auto live = live_text(issue_body(facts));
    for (auto at = live.find("@ada"); at != std::string::npos; at = live.find("@ada")) {
      live.erase(at, 4);
    }
    RC_ASSERT(live.find('@') == std::string::npos);
    RC_ASSERT(live.find("evil") == std::string::npos);
    RC_ASSERT(live.find("<img") == std::string::npos);
    for (const auto& target : links_in(live)) RC_ASSERT(is_allowed_link(target));
  }));
}
