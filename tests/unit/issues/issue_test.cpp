#include "torchwatch/issues/issue.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>

#include "golden.hpp"
#include "live_text.hpp"
#include "sample_facts.hpp"
#include "torchwatch/report/reproduce.hpp"

using namespace torchwatch;
using namespace torchwatch::report;
using Catch::Contains;

namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

IncidentFacts huge_comparison() {
  auto facts = hostile_comparison();
  const std::string wide(3000, '|');
  auto& culprit = facts.bisection->culprits.front();
  for (int i = 0; i < 300; ++i) {
    auto effect = facts.effects.front();
    effect.series.benchmark.workload = wide + std::to_string(i);
    facts.effects.push_back(effect);
    facts.machine["fact" + std::to_string(i)] = wide;
    culprit.effects.push_back(effect);
    culprit.commits.front().changed_paths.push_back(wide);
    facts.bisection->skipped.push_back({"abc", wide});
  }
  facts.reproduce = wide;
  return facts;
}

}  // namespace

TEST_CASE("an issue tells a leak of the heap from one of tensors") {
  auto facts = leaking_comparison();
  CHECK(issue_body(facts).find("**4,096 bytes more per iteration** with `") != std::string::npos);
  facts.effects.front().series.metric = Metric::heap_growth;
  CHECK(issue_body(facts).find("**4,096 bytes more per iteration** on the heap, not as tensors, "
                               "with `") != std::string::npos);
  CHECK(incident_title(facts).starts_with("[leak] +4,096 bytes/iteration heap_growth: dlrm, cpu-"));
}

TEST_CASE("an issue full of hostile text reads as accepted") {
  require_golden("issue_hostile.md", issue_body(hostile_comparison()));
}

TEST_CASE("what a process printed stays in its block, whatever it says") {
  auto facts = lost_comparison();
  facts.output = {"```", "</details> @everyone <!-- torchwatch-key: x -->", "\x1b[31m~~~"};
  const auto body = issue_body(facts);
  CHECK_THAT(body, Contains("\n````\n```\n</details> @everyone <! -- torchwatch-key: x -->\n"
                            " [31m~~~\n````\n\n</details>\n"));
  CHECK_THAT(live_text(body), !Contains("@everyone") && !Contains("~~~"));
}

TEST_CASE("TorchBench's command is made where it measures the same, and nowhere else") {
  Benchmark benchmark{"resnet18", {Device::cpu, Mode::infer}, {}};
  CHECK(torchbench_command(benchmark, "") == "python3 run.py resnet18 -d cpu -t eval");
  benchmark.variant.batch = 8;
  benchmark.variant.threads = 2;
  CHECK(torchbench_command(benchmark, "1") ==
        "OMP_NUM_THREADS=2 python3 run.py resnet18 -d cpu -t eval --bs 8");
  benchmark.variant.precision = Precision::bf16;
  CHECK(torchbench_command(benchmark, "1").empty());
  benchmark.variant = {};
  benchmark.configuration.device = Device::cuda;
  CHECK(torchbench_command(benchmark, "1").empty());
}

TEST_CASE("an issue says how torchwatch is installed, and what a test of a suspect needs") {
  const auto body = issue_body(slower_comparison());
  CHECK_THAT(body, Contains("`deploy/quickstart`"));
  CHECK_THAT(body,
             Contains("needs `[source]`, a clone of PyTorch, and a `[build] recipe`; `[suite] "
                      "preset` was `small`:\n"));
}

TEST_CASE("an issue says of the machine only what the runs stated") {
  auto facts = leaking_comparison();
  facts.disturbance.stolen.reset();
  facts.disturbance.is_virtual = false;
  CHECK_THAT(issue_body(facts),
             Contains("load 0.6 to 2.1, to which they add.\n") && !Contains("virtual"));
  facts.disturbance.load_most = facts.disturbance.load_least + 0.01;
  CHECK_THAT(issue_body(facts), Contains("load 0.6, to which they add.\n"));
  facts.disturbance.runs = 0;
  CHECK_THAT(issue_body(facts), !Contains("Beside"));
}

TEST_CASE("an issue says how many builds of its search somebody else has made") {
  auto facts = slower_comparison();
  CHECK_THAT(issue_body(facts), !Contains("made elsewhere"));
  facts.bisection->made_elsewhere = 1;
  CHECK_THAT(issue_body(facts), Contains(" builds between the ends (1 of them made elsewhere), "));
}

TEST_CASE("commits and the range are links, made of hex digits and the configured address alone") {
  const auto body = issue_body(slower_comparison());
  CHECK_THAT(body, Contains("[`5d1c1c3f0a9e`](https://github.com/pytorch/pytorch/commit/"
                            "5d1c1c3f0a9e7b6d4c2f8e1a3b5d7f9021436587)"));
  CHECK_THAT(body, Contains("(https://github.com/pytorch/pytorch/compare/"
                            "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3..."
                            "b1d5781111d84f7b3fe45a0852e59758cd7a87e5)"));
  auto facts = slower_comparison();
  facts.bisection->culprits.front().commits.front().sha = "5d1c)](javascript:1)";
  facts.bisection->good = "5d1c";
  CHECK_THAT(live_text(issue_body(facts)), !Contains("javascript") && !Contains("/compare/"));
  CHECK_THAT(issue_body(hostile_comparison()), !Contains("](https://example.invalid"));
  facts.commits_address.clear();
  CHECK_THAT(live_text(issue_body(facts)), !Contains("]("));
}

TEST_CASE("an issue mentions whom the configuration names, and nobody else") {
  auto facts = slower_comparison();
  CHECK_THAT(live_text(issue_body(facts)), !Contains("@"));
  facts.cc = {"ada", "pytorch/oncall"};
  CHECK_THAT(live_text(issue_body(facts)), Contains("\ncc @ada @pytorch/oncall\n"));
}

TEST_CASE("an issue says how to repeat it in minutes, what is not affected, and how to object") {
  const auto body = issue_body(slower_comparison());
  CHECK_THAT(body, Contains("torchwatch compare 2.14.0.dev20260816 2.14.0.dev20260817") &&
                       Contains("torchwatch bisect --suspect 5d1c1c3f0a9e"));
  CHECK_THAT(body, Contains("Not affected: 32 of 36 series are unchanged, among them the times of "
                            "`resnet18 cpu-infer`; 2 could not be decided."));
  CHECK_THAT(body, Contains("`torchwatch incident dispute 3 --reason \"...\"` searches again") &&
                       Contains("`torchwatch incident accept 3"));
  CHECK_THAT(body, Contains("with preset `small`"));
  CHECK_THAT(body, !Contains("|  |"));
}

TEST_CASE("an issue says how it is answered in a comment, where somebody reads comments") {
  auto facts = slower_comparison();
  CHECK_THAT(issue_body(facts), !Contains("In a comment here"));
  CHECK_THAT(
      issue_body(facts, "/"),
      Contains("\nIn a comment here, `/ack REASON` acknowledges it, `/wrong REASON` searches "
               "again; `/bisect help` lists what else can be asked for. Closed as not "
               "planned, it is the new normal.\n"));
  CHECK_THAT(issue_body(facts, "/tw-"), Contains("`/tw-wrong REASON`"));
  facts.bisection->culprits.clear();
  CHECK_THAT(issue_body(facts, "/"),
             Contains("`/ack REASON` acknowledges it; `/bisect help`") && !Contains("/wrong"));
  CHECK_THAT(live_text(issue_body(facts, "@somebody ")), !Contains("@"));
}

TEST_CASE("a workload that runs with neither build is asked for again in a comment") {
  auto facts = lost_comparison();
  CHECK_THAT(issue_body(facts, "/"), Contains("`/ack REASON`") && !Contains("/retest"));
  for (auto& effect : facts.effects) effect.baseline_value = 0;
  CHECK_THAT(issue_body(facts, "/"),
             Contains("\nIn a comment here, `/retest` measures it again; `/bisect help` lists"));
}

TEST_CASE("a single series is unchanged, several are") {
  auto facts = slower_comparison();
  facts.unaffected.unchanged = 1;
  CHECK_THAT(issue_body(facts), Contains("Not affected: 1 of 36 series is unchanged"));
}

TEST_CASE("the row of a leak has its unit once") {
  CHECK_THAT(issue_body(leaking_comparison()),
             Contains("| leak_growth | 0 | 4,096 | **+4,096 bytes/iteration** |"));
}

TEST_CASE("a leak is given per iteration where that is known") {
  auto facts = leaking_comparison();
  auto left = facts.effects.front();
  left.series.metric = Metric::leak_retained;
  left.candidate_value = 204'800;
  facts.effects.insert(facts.effects.begin(), left);
  CHECK_THAT(issue_body(facts), Contains("keeps **4,096 bytes more per iteration**"));
  CHECK_THAT(incident_title(facts), Contains("+4,096 bytes/iteration"));
}

TEST_CASE("hostile text never leaves its code span") {
  const std::string body = issue_body(hostile_comparison());
  const std::string live = live_text(body);
  CHECK(live.find('@') == std::string::npos);
  CHECK(live.find("#1") == std::string::npos);
  CHECK(live.find("javascript") == std::string::npos);
  CHECK(live.find("<img") == std::string::npos);
  CHECK(live.find("<script") == std::string::npos);
  CHECK(occurrences(body, "<!--") == 1);
  CHECK(occurrences(body, "-->\n") == 1);
  CHECK(body.find_first_of(std::string("\x1b\x07\r\0", 4)) == std::string::npos);
}

TEST_CASE("an issue's text stays short and keeps its marker, whatever is in it") {
  const std::string body = issue_body(huge_comparison());
  CHECK(body.size() <= 20'000);
  CHECK(body.find(marker(huge_comparison().key)) != std::string::npos);
  CHECK(body.find("How to reproduce") != std::string::npos);
  CHECK(recurrence_comment(huge_comparison()).size() <= 60'000);
  CHECK(recovery_comment(huge_comparison()).size() <= 60'000);
}

TEST_CASE("no subject can end its code span") {
  CHECK(rc::check("live text holds nothing of a subject", [](const std::string& noise) {
    auto facts = slower_comparison();
    facts.bisection->culprits.front().commits.front().subject = "@start" + noise + "`@end";
    RC_ASSERT(live_text(issue_body(facts)).find('@') == std::string::npos);
  }));
}

TEST_CASE("a marker is one harmless comment for every key, and keys keep apart") {
  CHECK(marker("time-cpu:5d1c") == "<!-- torchwatch-key: time-cpu:5d1c -->");
  CHECK(marker("a--b") == "<!-- torchwatch-key: a-%2Db -->");
  CHECK(marker("a-%2Db") != marker("a--b"));
  CHECK(occurrences(marker("x --> y"), "-->") == 1);
}

TEST_CASE("a message's marker is the one that its text ends with") {
  const auto ours = marker("open-1:5ec2e7");
  CHECK(marker_in("see " + marker("quoted") + "\n\n" + ours + "\n") == ours);
  CHECK_FALSE(marker_in("see " + marker("quoted") + " and so on\n"));
  CHECK_FALSE(marker_in("<!-- torchwatch-key: cut"));
  CHECK_FALSE(marker_in(""));
}

TEST_CASE("a comparison with an older nightly says so, in the title and in the text") {
  auto facts = slower_comparison();
  facts.nightlies_back = 28;
  CHECK_THAT(incident_title(facts), Contains(facts.baseline.name + " to " + facts.candidate.name));
  CHECK_THAT(issue_body(facts), Catch::Contains("an older nightly, 28 before"));
  CHECK_THAT(issue_body(slower_comparison()), !Catch::Contains("an older nightly"));
}

TEST_CASE("what is to be said of the comparison as a whole stands in the issue, quoted") {
  auto facts = slower_comparison();
  facts.remarks = {"The machine is not the same: cpu_model: a -> @b `c`."};
  const auto body = issue_body(facts);
  CHECK_THAT(body, Catch::Contains("About the comparison as a whole"));
  CHECK_THAT(live_text(body), !Catch::Contains("@b"));
}

TEST_CASE("an acceptance says who, why and from which build on, as text of others") {
  const auto comment =
      acceptance_comment(slower_comparison(), "ada @all", "see #1\n<!-- torchwatch-key: x -->");
  CHECK_THAT(comment, Catch::StartsWith("Accepted by `ada @all`: "));
  CHECK_THAT(comment, Catch::Contains(slower_comparison().candidate.name));
  CHECK_THAT(live_text(comment), !Catch::Contains("@all"));
  CHECK_THAT(live_text(comment), !Catch::Contains("#1"));
  CHECK(comment.find("<!--") == std::string::npos);
}

TEST_CASE("an issue has the picture above the text that says the same, and the text without it") {
  auto facts = slower_comparison();
  auto& drawings = facts.drawings;
  drawings.texts = {"resnet18 cpu-train time\nscreening A |  \u2582 |\n"};
  CHECK_THAT(issue_body(facts),
             Contains("### Evidence\n\n```\nresnet18 cpu-train time\n") && !Contains("!["));
  drawings.picture = "https://torchwatch.example.org/incidents/7/evidence.svg?v=0123456789abcdef";
  CHECK_THAT(issue_body(facts),
             Contains("the text below says the same](" + drawings.picture + ")\n\n```"));
  drawings.picture = "https://x.org/a) <img src=x>";
  CHECK_THAT(issue_body(facts), !Contains("!["));
}
