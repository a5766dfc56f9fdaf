#include "torchwatch/terminal/incident_text.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "golden.hpp"
#include "text_samples.hpp"
#include "torchwatch/report/reproduce.hpp"

using namespace torchwatch;
using namespace torchwatch::terminal;
using Catch::Contains;

namespace {

std::string text_of(const IncidentFacts& facts, const Screen& screen = {}) {
  std::ostringstream out;
  print(out, facts, nullptr, screen);
  return out.str();
}

}  // namespace

TEST_CASE("an incident reads as accepted on a terminal") {
  require_golden("incident_80.txt", text_of(slow_incident()));
}

TEST_CASE("what a person can do about an incident is what its page says") {
  const auto facts = slow_incident();
  const auto advice = report::advice_on(facts.row, true, facts.reproduce);
  CHECK(advice.size() == 6);
  for (const auto& [when, command] : advice) {
    CHECK_THAT(text_of(facts, {.columns = 200}), Contains(when + ": `" + command + "`"));
  }
}

TEST_CASE("an incident on a terminal has no Markdown") {
  const auto text = text_of(slow_incident(), {.columns = 120});
  CHECK_THAT(text,
             !Contains("|") && !Contains("<details>") && !Contains("**") && !Contains("<!--"));
}

TEST_CASE("a closed incident is said how to reopen it, and who accepted it") {
  auto facts = slow_incident();
  facts.row.state = storage::IncidentState::closed;
  facts.row.closed_at = kNow;
  CHECK_THAT(text_of(facts), Contains("Incident 1, regression, closed on 2026-08-17") &&
                                 Contains("torchwatch incident reopen 1") && !Contains("dispute"));
  facts.row.acceptance = {.by = "ada", .reason = "wanted", .at = kNow};
  CHECK_THAT(text_of(facts), Contains("accepted by ada on 2026-08-17 03:04 UTC: wanted"));
}

TEST_CASE("what the environment lost is said with its reason, without values and without advice") {
  auto facts = slow_incident();
  facts.row.kind = IncidentKind::lost;
  facts.row.series.resize(1);
  facts.row.series[0].baseline_value = facts.row.series[0].candidate_value = 0;
  facts.loss = {.reason = "runs with neither build: killed by signal 9 (SIGKILL)",
                .output = {"frame #0: at::sum", "Segmentation fault"}};
  facts.result.reset();
  CHECK_THAT(text_of(facts, {.columns = 120}),
             Contains("look at this machine, not at the build") &&
                 Contains("Reason: runs with neither build: killed by signal 9 (SIGKILL)") &&
                 Contains("printed last:\n  frame #0: at::sum\n  Segmentation fault\n") &&
                 Contains("torchwatch incident retest 1") && !Contains("incident accept") &&
                 !Contains("0 bytes") && !Contains("before"));
}

TEST_CASE("what a second search found is said with who asked for it") {
  auto facts = slow_incident();
  facts.disputed = Disputed{"0123456789abcdef", {.by = "ada", .reason = "a test", .at = kNow}};
  CHECK_THAT(text_of(facts, {.columns = 120}),
             Contains("Commit 0123456789ab, which was named first, was disputed by ada on "
                      "2026-08-17 03:04 UTC: a test.\nWhat the second search found:\n"));
  facts.result.reset();
  CHECK_THAT(text_of(facts), Contains("The second search has not ended."));
}

TEST_CASE(
    "a search that was cancelled with its comparison is said by whom, and how it begins again") {
  auto facts = slow_incident();
  facts.row.bisection = 1;
  facts.result.reset();
  const Screen screen{.columns = 200};
  CHECK_THAT(text_of(facts, screen), Contains("The search for the culprit has not ended."));
  facts.cancelled = "by uid 1000";
  const auto id = std::to_string(facts.row.comparison);
  CHECK_THAT(text_of(facts, screen),
             Contains("The search for the culprit was cancelled with comparison " + id +
                      ", by uid 1000; `torchwatch comparison retry " + id + "` starts it again."));
}

TEST_CASE("what measuring again came to is said of an incident") {
  auto facts = slow_incident();
  CHECK_THAT(text_of(facts), !Contains("Measured again"));
  report::Recheck recheck;
  recheck.comparison.id = 7;
  recheck.comparison.ended_at = kNow;
  recheck.candidate = "2026-08-18";
  recheck.outcome = report::RecheckOutcome::gone;
  facts.rechecks = {recheck};
  CHECK_THAT(text_of(facts),
             Contains("\nMeasured again, newest first:\n"
                      "  2026-08-18 on 2026-08-17 03:04 UTC (comparison 7): gone\n"));
}

TEST_CASE("a trace says why an end may be measured as another commit") {
  auto facts = slow_incident();
  CHECK_THAT(text_of(facts), !Contains("is measured as the one before it"));
  facts.result->folded = 2;
  CHECK_THAT(text_of(facts, {.columns = 120}), Contains("is measured as the one before it"));
}
