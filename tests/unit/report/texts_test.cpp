// Small texts of issues and pages.
#include <catch2/catch.hpp>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/documents/plan.hpp"
#include "torchwatch/report/bisection_text.hpp"
#include "torchwatch/report/culprit_tally.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/report/wording.hpp"

using namespace torchwatch;
using namespace torchwatch::report;

namespace {

const Series kTime{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
const Series kLeak{{"dlrm", {Device::cpu, Mode::infer}, {}}, Metric::leak_growth};

storage::BisectionRow ended_with(const bisection::BisectionResult& result) {
  storage::BisectionRow row;
  row.result_json = to_json(result);
  return row;
}

storage::VerdictRow row_of(Verdict verdict, double ratio) {
  storage::VerdictRow row;
  row.series = kTime;
  row.verdict = verdict;
  row.ratio = ratio;
  return row;
}

}  // namespace

TEST_CASE("the causes of a stored bisection are read as they were stored") {
  bisection::BisectionResult result;
  result.culprits = {
      {.commits = {"aaaa", "bbbb"},
       .parent = "0000",
       .confidence = 0.97,
       .effects = {},
       .verified = "",
       .revert = {}},
      {.commits = {"cccc"},
       .parent = "bbbb",
       .confidence = 0.9973,
       .effects = {{kTime, 0.1389, 0.1275, 0.1508, 12}, {kLeak, 4096, 4096, 4096, 3}},
       .verified = "against its parent",
       .revert = bisection::RevertOutcome::change_gone}};
  result.suspects = {"dddd", "eeee"};
  result.suspects_confidence = 0.9;
  const auto causes = causes_of(ended_with(result));
  REQUIRE(causes.size() == 3);
  CHECK(bisection::leading(causes) == &causes[0]);
  const auto* first = &causes[1];
  CHECK(first->commits.front().sha == "cccc");
  CHECK(first->confidence == 0.9973);
  CHECK(first->verified == "against its parent");
  CHECK(first->revert == bisection::RevertOutcome::change_gone);
  REQUIRE(first->effects.size() == 2);
  CHECK(first->effects[0].series == kTime);
  CHECK(first->effects[0].runs == 24);
  CHECK(first->effects[0].ratio == Approx(1.149).epsilon(1e-3));
  CHECK(first->effects[1].difference == 4096);
  CHECK(causes[2].commits.size() == 2);
  CHECK(causes[2].confidence == 0.9);
}

TEST_CASE(
    "a culprit whose revert leaves the change is a suspect, and no probability stands by it") {
  bisection::NamedCulprit culprit{.commits = {"cccc"},
                                  .parent = "bbbb",
                                  .confidence = 0.9973,
                                  .effects = {},
                                  .verified = "against its parent",
                                  .revert = {}};
  using enum bisection::RevertOutcome;
  for (const auto revert : {not_tried, impossible, change_gone, inconclusive}) {
    culprit.revert = revert;
    CHECK(finding_of(culprit) == Finding::named);
    CHECK(finding_of(cause_of(culprit)) == Finding::named);
    CHECK(cause_of(culprit).confidence == 0.9973);
    CHECK(doubt_text(revert).empty());
  }
  culprit.revert = change_stays;
  CHECK(finding_of(culprit) == Finding::likely);
  CHECK(finding_of(cause_of(culprit)) == Finding::likely);
  CHECK(cause_of(culprit).confidence == 0);
  CHECK_THAT(std::string(doubt_text(change_stays)),
             Catch::StartsWith("The change stays when this"));
}

TEST_CASE("what a revert showed is said behind how a culprit was verified") {
  VerificationFacts facts;
  facts.parent = "bbbbbbbbbbbbbbbb";
  facts.pairs = 6;
  const auto said = [&](bisection::RevertOutcome revert) {
    facts.revert = revert;
    return verification_text(facts);
  };
  using enum bisection::RevertOutcome;
  const auto plain = said(not_tried);
  CHECK(plain == "against bbbbbbbbbbbb, the commit before it that builds, 6 fresh pairs");
  facts.are_fresh = false;
  CHECK(said(not_tried) == "against bbbbbbbbbbbb, the commit before it that builds, 6 pairs");
  facts.are_fresh = true;
  facts.revert_problem = "it conflicts";
  CHECK(said(impossible) ==
        plain + "; reverting it on the newest commit was not possible (it conflicts)");
  facts.revert_change = "dlrm cpu-train time +0.2 %";
  CHECK(said(change_gone) == plain +
                                 "; reverting it on the newest commit undoes the change "
                                 "(with the commit: dlrm cpu-train time +0.2 %)");
  CHECK(said(change_stays) == plain +
                                  "; reverting it on the newest commit leaves the change "
                                  "(with the commit: dlrm cpu-train time +0.2 %)");
  facts.revert_problem = "too noisy to tell whether the change goes with it";
  CHECK(said(inconclusive) == plain +
                                  "; reverting it on the newest commit was too noisy to tell "
                                  "whether the change goes with it "
                                  "(with the commit: dlrm cpu-train time +0.2 %)");
}

TEST_CASE("a bisection without a result, or with a damaged one, has no causes") {
  CHECK(causes_of({}).empty());
  storage::BisectionRow row;
  for (const auto* damaged : {"{", "[]", R"({"culprit": "cccc"})", R"({"culprits": 3})"}) {
    row.result_json = damaged;
    CHECK(causes_of(row).empty());
  }
  CHECK(bisection::leading(std::vector<CulpritFacts>{}) == nullptr);
}

TEST_CASE("a bisection prints its result as it was stored, and nothing for a damaged one") {
  bisection::BisectionResult result;
  result.culprits = {{.commits = {"cccc"},
                      .parent = "bbbb",
                      .confidence = 0.9973,
                      .effects = {{kTime, 0.1389, 0.1275, 0.1508, 12}},
                      .verified = "",
                      .revert = {}}};
  auto row = ended_with(result);
  const auto stored = nlohmann::json::parse(row.result_json);
  CHECK(result_of(row) == stored);
  auto older = stored;
  older.erase("made_elsewhere");
  row.result_json = older.dump();
  CHECK(result_of(row) == stored);
  row.result_json = R"({"culprit": "cccc"})";
  CHECK(result_of(row).is_null());
}

TEST_CASE("an outcome says what regressed, and never that nothing did where nothing was decided") {
  const auto said = [](const std::vector<storage::VerdictRow>& rows) {
    return outcome_text(sorted(rows, {}));
  };
  CHECK(said({row_of(Verdict::regressed, 1.1), row_of(Verdict::inconclusive, 1)}) ==
        "1 series regressed, 1 could not be decided");
  CHECK(said({row_of(Verdict::unchanged, 1)}) == "nothing regressed");
  CHECK(said({row_of(Verdict::unchanged, 1), row_of(Verdict::failed, 0)}) ==
        "nothing regressed, 1 failed");
  CHECK(said({row_of(Verdict::inconclusive, 1)}) == "no conclusion, no series could be decided");
}

TEST_CASE("builds that somebody else has made are said where builds are counted") {
  CHECK(builds_text(4, 0) == "4 builds between the ends");
  CHECK(builds_text(4, 1) == "4 builds between the ends (1 of them made elsewhere)");
}

TEST_CASE("a damaged bisection keeps no other out of the tally") {
  std::vector<storage::BisectionRow> rows(3);
  rows[0].spec_json = R"({"dispute": 7})";
  rows[0].result_json = "[";
  rows[1].spec_json = R"({"dispute": {"bisection": 1, "by": "ada", "reason": "why", "at": 2}})";
  rows[2].spec_json = "{}";
  bisection::BisectionResult named;
  named.culprits.resize(1);
  rows[2].result_json = to_json(named);
  const auto tally = report::culprit_tally(rows);
  CHECK(tally.named == 1);
  CHECK(tally.disputed == 2);
}

TEST_CASE("the command that repeats a finding names the preset of a plan that can be read") {
  storage::IncidentRow incident;
  incident.series.push_back(storage::incident_series(row_of(Verdict::regressed, 1.1)));
  const auto command = [&](const std::string& plan_json) {
    return reproduce_command(incident, "a", "b", plan_json);
  };
  const std::string plain = "torchwatch compare a b --workload resnet18 --configuration cpu-train";
  comparison::Plan plan;
  plan.preset = Preset::paper;
  CHECK(command(to_json(plan)) == plain + " --preset paper");
  CHECK(command("") == plain);
  CHECK(command("{") == plain);
}

TEST_CASE("the command that searches again names the range, the series and the preset, quoted") {
  const Series series{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::cpu_peak};
  CHECK(bisect_command("aaaa", "bbbb", series, Preset::small) ==
        "torchwatch bisect aaaa bbbb --workload resnet18 --configuration cpu-train --preset small "
        "--metric cpu_peak");
  CHECK(bisect_command("a b", "it's", series, std::nullopt) ==
        "torchwatch bisect 'a b' 'it'\\''s' --workload resnet18 --configuration cpu-train "
        "--metric cpu_peak");
  CHECK(measure_command("$(id)") == "torchwatch measure '$(id)'");
}
