// The texts of issues from facts as the pipeline gathers them out of stored rows.
#include <catch2/catch.hpp>
#include <sstream>

#include "golden.hpp"
#include "stored_day.hpp"
#include "torchwatch/cli/command_line.hpp"
#include "torchwatch/issues/issue.hpp"

using namespace torchwatch;
using Catch::Contains;
using test::kLeaking;
using test::kResnet;
using test::slower;
using test::StoredDay;
using test::unchanged;

namespace {

bisection::BisectionResult culprits_at(const std::vector<std::vector<std::string>>& causes) {
  bisection::BisectionResult result;
  result.outcome = bisection::BisectionOutcome::found;
  for (const auto& commits : causes) {
    result.culprits.push_back(
        {commits,
         "",
         0.99731,
         {{{kResnet, Metric::time}, 0.1389, 0.1275, 0.1508, 12}},
         "against the commit before it that builds, 12 fresh pairs; reverting it on the newest "
         "commit undoes the change (with the commit: resnet18 cpu-train time +14.6 %)"});
  }
  result.commits = 3;
  result.builds = 2;
  result.runs = 96;
  return result;
}

/// What a run on a machine with that load states of it.
Environment machine_with_load(int load_milli) {
  return {.facts = {{"cpu_model", "AMD EPYC 7763"}, {"cpus", "2"}, {"threads", "1"}},
          .volatile_facts = {{"load1_milli", load_milli},
                             {"steal_ticks", 4},
                             {"wall_ns", 5'000'000'000},
                             {"is_virtual", 1}}};
}

/// Runs a command as a shell would, in a folder that knows no commits and no builds.
std::string error_of(const std::string& command) {
  const test::TemporaryFolder folder;
  const auto config = folder.write("torchwatch.toml", "[storage]\npath = \"db.sqlite\"\n").string();
  std::istringstream words(command + " --config " + config);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  std::vector<const char*> values;
  for (const auto& argument : arguments) values.push_back(argument.c_str());
  std::ostringstream out;
  std::ostringstream err;
  cli::run(values, out, err, {});
  return err.str();
}

}  // namespace

TEST_CASE("runs side by side count once in what a comparison takes") {
  StoredDay day;
  for (int i = 0; i < 6; ++i) day.add_pair(kResnet, 2'000'000, 2'300'000);
  const auto facts = day.facts({slower(kResnet, 1.152)}, std::nullopt);
  CHECK(facts.reproduce_seconds == 120);
  REQUIRE(day.drawings.texts.size() >= 2);
  CHECK_THAT(day.drawings.texts[0], Contains("resnet18 cpu-train time"));
  CHECK_THAT(day.drawings.texts[1], Contains("5 points"));
  CHECK(day.drawings.picture.empty());
  CHECK(facts.tally.empty());
}

TEST_CASE("an issue links the incident's page where people reach it") {
  StoredDay day;
  day.add_pair(kResnet, 2'000'000, 2'300'000);
  auto facts = day.facts({slower(kResnet, 1.152)}, std::nullopt);
  CHECK_THAT(report::issue_body(facts), !Contains("[its page]"));
  config::Config config;
  config.web.public_address = "https://torchwatch.example.org/";
  facts.page = config::page_of_incident(config, 7);
  CHECK_THAT(report::issue_body(facts),
             Contains(" ([its page](https://torchwatch.example.org/incidents/7), "
                      "[JSON](https://torchwatch.example.org/incidents/7.json))"));
}

TEST_CASE("an issue leads to the traces of both builds") {
  StoredDay day;
  day.add_pair(kResnet, 2'000'000, 2'300'000);
  auto facts = day.facts({slower(kResnet, 1.152)}, std::nullopt);
  CHECK_THAT(report::issue_body(facts), !Contains("Traces of one iteration"));
  config::Config config;
  config.web.public_address = "https://torchwatch.example.org/";
  facts.traces = {{"baseline", config::page_of_trace(config, 12)},
                  {"candidate", config::page_of_trace(config, 13)}};
  CHECK_THAT(report::issue_body(facts),
             Contains("Traces of one iteration, for Perfetto: "
                      "[baseline](https://torchwatch.example.org/traces/12), "
                      "[candidate](https://torchwatch.example.org/traces/13).\n"));
}

TEST_CASE("an issue shows the picture where strangers may read the pages") {
  config::Config::Web web;
  web.public_address = "https://torchwatch.example.org/";
  const auto picture_with = [&](config::AnonymousRead who) {
    web.anonymous_read = who;
    StoredDay day(web);
    day.add_pair(kResnet, 2'000'000, 2'300'000);
    const auto facts = day.facts({slower(kResnet, 1.152)}, std::nullopt);
    CHECK_THAT(report::issue_body(facts), Contains("### Evidence") && Contains("screening A"));
    return day.drawings.picture;
  };
  CHECK_THAT(picture_with(config::AnonymousRead::always),
             Catch::Matches("https://torchwatch[.]example[.]org/incidents/1/evidence[.]svg[?]v="
                            "[0-9a-f]{16}"));
  CHECK(picture_with(config::AnonymousRead::loopback).empty());
}

TEST_CASE("an issue says what the machine did beside the runs that found it") {
  StoredDay day;
  for (const int load : {600, 2100}) {
    day.environment = machine_with_load(load);
    day.add_pair(kResnet, 2'000'000, 2'300'000);
  }
  const auto body = report::issue_body(day.facts({slower(kResnet, 1.152)}, std::nullopt));
  CHECK_THAT(body, Contains("Beside 4 runs of this pass: load 0.6 to 2.1, to which they add; steal "
                            "0.4 % of the time. It is a virtual machine.\n\n| fact | value |"));
}

TEST_CASE("an issue about a time says how to time the original without torchwatch") {
  StoredDay day;
  day.environment.facts = {{"threads", "1"}};
  day.add_pair(kResnet, 2'000'000, 2'300'000);
  const auto facts = day.facts({slower(kResnet, 1.152)}, std::nullopt);
  CHECK(facts.torchbench == "OMP_NUM_THREADS=1 python3 run.py resnet18 -d cpu -t train");
}

TEST_CASE("damaged samples keep no issue back, which lacks its history then") {
  StoredDay day;
  day.add_pair(kResnet, 2'000'000, 2'300'000);
  day.damage_samples();
  const auto facts = day.facts({slower(kResnet, 1.152)}, std::nullopt);
  CHECK(day.drawings.texts.empty());
  CHECK_THAT(report::issue_body(facts),
             Contains("resnet18 cpu-train") && !Contains("### Evidence"));
}

TEST_CASE("an issue with a culprit reads as accepted") {
  StoredDay day;
  const Benchmark other{"dlrm", {Device::cpu, Mode::train}, {}};
  for (int i = -3; i <= 3; ++i)
    day.add_pair(kResnet, 2'104'000 + i * 9'000, 2'424'000 + i * 12'000);
  const auto facts =
      day.facts({slower(other, 1.088), slower(kResnet, 1.152)}, culprits_at({{day.sha(1)}}));
  require_golden("issue_culprit.md", report::issue_body(facts, "/"));
}

TEST_CASE("an issue with two culprits and a third cause reads as accepted") {
  StoredDay day;
  auto result = culprits_at({{day.sha(1)}, {day.sha(2)}});
  result.suspects = {day.sha(2), day.sha(3)};
  result.suspects_confidence = 0.97;
  result.reason = "the budget of 1,000 runs is used up";
  const auto facts = day.facts({slower(kResnet, 1.152)}, result);
  require_golden("issue_two_culprits.md", report::issue_body(facts));
}

TEST_CASE("an issue with several candidates reads as accepted") {
  StoredDay day;
  auto result = culprits_at({{day.sha(1), day.sha(2)}});
  result.reason = "a commit between them does not build, so nothing can be measured there";
  const auto facts = day.facts({slower(kResnet, 1.152)}, result);
  require_golden("issue_candidates.md", report::issue_body(facts));
}

TEST_CASE("an issue whose regression did not reproduce reads as accepted") {
  StoredDay day;
  auto result = culprits_at({});
  result.outcome = bisection::BisectionOutcome::did_not_reproduce;
  result.reason = "did not reproduce: the ends differ by +0.4 % [-0.9, +1.7] when built here";
  const auto facts = day.facts({slower(kResnet, 1.152)}, result);
  require_golden("issue_not_reproduced.md", report::issue_body(facts));
}

TEST_CASE("an issue about a leak reads as accepted") {
  StoredDay day;
  for (const int load : {600, 900, 2100}) {
    day.environment = machine_with_load(load);
    day.add_pair(kLeaking.benchmark, 0, 4096, kLeaking.metric);
  }
  day.add_verdict(unchanged({kLeaking.benchmark, Metric::time}, 913'400));
  day.add_verdict(unchanged({kLeaking.benchmark, Metric::leak_retained}, 0));
  storage::VerdictRow leak;
  leak.series = kLeaking;
  leak.verdict = Verdict::regressed;
  leak.candidate_value = 4096;
  leak.runs = 6;
  const auto facts = day.facts({leak}, std::nullopt, IncidentKind::leak);
  require_golden("issue_leak.md", report::issue_body(facts));
}

TEST_CASE("an issue about a lost workload reads as accepted") {
  StoredDay day;
  const Benchmark benchmark{"hf_DistilBert", {Device::cpu, Mode::infer}, {}};
  for (const int load : {600, 2100}) {
    day.environment = machine_with_load(load);
    day.add_pair(kResnet, 2'000'000, 2'000'000);
  }
  day.add_verdict(unchanged({kResnet, Metric::time}, 2e6));
  day.add_verdict(unchanged({benchmark, Metric::cpu_peak}, 3e8));
  storage::VerdictRow lost;
  lost.series = {benchmark, Metric::time};
  lost.verdict = Verdict::failed;
  lost.baseline_value = 2e6;
  lost.runs = 4;
  lost.reason = "runs with the baseline and not with the candidate: killed by signal 11 (SIGSEGV)";
  day.add_crash(
      benchmark,
      "terminate called after throwing an instance of 'c10::Error'\n\n"
      "  what():  Expected a Tensor\n"
      "frame #0: c10::Error::Error() + 0x57 (0x7f in /srv/builds/2026-08-17/lib/libc10.so)\n"
      "scratch is /srv/torchwatch/scratch, password=hunter2hunter2\n"
      "</details> ``` @everyone\n");
  const auto facts = day.facts({lost}, std::nullopt, IncidentKind::lost);
  require_golden("issue_lost.md", report::issue_body(facts));
}

TEST_CASE("the comments on recurrence and recovery read as accepted") {
  StoredDay day;
  const Benchmark other{"dlrm", {Device::cpu, Mode::train}, {}};
  day.facts({slower(other, 1.088), slower(kResnet, 1.152)}, culprits_at({{day.sha(1)}}));
  const auto again =
      day.later_facts(storage::Purpose::nightly, {slower(other, 1.094), slower(kResnet, 1.148)});
  require_golden("comment_recurrence.md", report::recurrence_comment(again));
  const auto gone = day.later_facts(
      storage::Purpose::recheck,
      {unchanged({other, Metric::time}, 913'400), unchanged({kResnet, Metric::time}, 2.104e6)});
  require_golden("comment_recovery.md", report::recovery_comment(gone));
}

TEST_CASE("the commands that reproduce an incident keep its variant and are understood") {
  StoredDay day;
  auto benchmark = kResnet;
  benchmark.variant = {Precision::bf16, Backend::eager, 8, 2};
  auto result = culprits_at({{day.sha(1)}});
  result.culprits.front().effects.front().series.benchmark = benchmark;
  const auto facts = day.facts({slower(benchmark, 1.152)}, result);
  CHECK(facts.reproduce ==
        "torchwatch compare 2026-08-16 2026-08-17 --workload resnet18 --configuration cpu-train "
        "--variant bf16,batch=8,threads=2");
  CHECK(facts.test_suspect == "torchwatch bisect --suspect " + day.sha(1) +
                                  " --workload resnet18 --configuration cpu-train --variant "
                                  "bf16,batch=8,threads=2 --metric time");
  CHECK(facts.torchbench.empty());
  for (const auto& command : {facts.reproduce, facts.test_suspect}) {
    CHECK_THAT(error_of(command + " --no-such-option"), Contains("--no-such-option"));
    const auto understood = error_of(command);
    INFO(understood);
    CHECK_THAT(understood, Contains("torchwatch: ") && !Contains("--") && !Contains("variant"));
  }
  CHECK_THAT(error_of("torchwatch bisect a b --variant int3"), Contains("variant"));
}
