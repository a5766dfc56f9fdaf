#include "sample_facts.hpp"

#include <string>

using namespace torchwatch;
using namespace torchwatch::report;

namespace {

Series series(const std::string& workload, Mode mode, Metric metric) {
  return {{workload, {Device::cpu, mode}, {}}, metric};
}

EffectFacts slower(const std::string& workload, Mode mode, double ratio, double low, double high,
                   double baseline_ns) {
  EffectFacts effect;
  effect.series = series(workload, mode, Metric::time);
  effect.ratio = ratio;
  effect.interval_low = low;
  effect.interval_high = high;
  effect.baseline_value = baseline_ns;
  effect.candidate_value = baseline_ns * ratio;
  effect.baseline_spread = 0.0121;
  effect.candidate_spread = 0.0184;
  effect.runs = 24;
  return effect;
}

/// As a bisection states it: without the values of either side.
EffectFacts measured(const std::string& workload, Mode mode, double ratio, double low,
                     double high) {
  auto effect = slower(workload, mode, ratio, low, high, 0);
  effect.baseline_spread = effect.candidate_spread = 0;
  return effect;
}

CommitFacts culprit() {
  return {"5d1c1c3f0a9e7b6d4c2f8e1a3b5d7f9021436587",
          "Check every element in addmm before the call (#99231)",
          "Ada Lovelace",
          "ada-l",
          "2026-08-16T14:21:07-07:00",
          {"aten/src/ATen/native/Linear.cpp", "aten/src/ATen/native/LinearAlgebra.cpp",
           "test/test_linalg.py"}};
}

CommitFacts other_commit() {
  return {"71e2b1b2c3d4e5f60718293a4b5c6d7e8f901234",
          "Use the fast path for channels last",
          "Grace Hopper",
          "",
          "2026-08-16T15:02:44-07:00",
          {"aten/src/ATen/native/Convolution.cpp"}};
}

BisectionFacts decided() {
  BisectionFacts search;
  search.good = "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3";
  search.bad = "b1d5781111d84f7b3fe45a0852e59758cd7a87e5";
  search.culprits = {
      {{culprit()},
       0.99731,
       {measured("resnet18", Mode::train, 1.149, 1.136, 1.163)},
       "against its parent, 12 fresh pairs; reverting it on the newest commit undoes the change",
       bisection::RevertOutcome::change_gone}};
  search.commits = 39;
  search.folded = 26;
  search.builds = 7;
  search.runs = 96;
  search.skipped = {{"17ba0791499db908433b80f37c5fbc89b870084b", "does not compile (exit 125)"}};
  return search;
}

}  // namespace

IncidentFacts slower_comparison() {
  IncidentFacts facts;
  facts.key = "open-regression-0123456789abcdef-1";
  facts.comparison = "2.14.0.dev20260817";
  facts.baseline = {"2.14.0.dev20260816", "2.14.0.dev20260816+cpu",
                    "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
                    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"};
  facts.candidate = {"2.14.0.dev20260817", "2.14.0.dev20260817+cpu",
                     "b1d5781111d84f7b3fe45a0852e59758cd7a87e5",
                     "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"};
  facts.effects = {slower("dlrm", Mode::train, 1.088, 1.0697, 1.1071, 913'400),
                   slower("resnet18", Mode::train, 1.152, 1.1312, 1.1738, 2.104e6)};
  facts.machine = {
      {"cpu", "AMD EPYC 7763"}, {"cores", "2"}, {"kernel", "6.18.0"}, {"threads", "1"}};
  facts.disturbance = {
      .runs = 24, .load_least = 0.6, .load_most = 2.1, .stolen = 0.004, .is_virtual = true};
  facts.bisection = decided();
  facts.reproduce =
      "torchwatch compare 2.14.0.dev20260816 2.14.0.dev20260817 --workload resnet18 "
      "--configuration cpu-train --preset small";
  facts.test_suspect =
      "torchwatch bisect --suspect 5d1c1c3f0a9e7b6d4c2f8e1a3b5d7f9021436587 --workload resnet18 "
      "--configuration cpu-train --preset small --metric time";
  facts.id = 3;
  facts.preset = Preset::small;
  facts.commits_address = "https://github.com/pytorch/pytorch";
  facts.unaffected = {.series = 36,
                      .unchanged = 32,
                      .undecided = 2,
                      .related = {{"resnet18", {Device::cpu, Mode::infer}, {}}}};
  facts.reproduce_seconds = 194;
  facts.tally = "of 12 commits named with 99 % or more, 11 held";
  return facts;
}

IncidentFacts slower_comparison_with_two_culprits() {
  auto facts = slower_comparison();
  auto& search = *facts.bisection;
  search.culprits.push_back({{other_commit()},
                             0.9921,
                             {measured("dlrm", Mode::train, 1.085, 1.071, 1.099)},
                             "against its parent, 12 pairs",
                             bisection::RevertOutcome::not_tried});
  search.suspects = {culprit(), other_commit()};
  search.suspects_confidence = 0.97;
  search.reason = "the budget of 1,000 runs is used up";
  return facts;
}

IncidentFacts slower_comparison_with_a_larger_cause_undecided() {
  auto facts = slower_comparison();
  facts.effects = {slower("resnet18", Mode::train, 1.186, 1.1648, 1.2072, 2.104e6)};
  auto& search = *facts.bisection;
  search.culprits.front().effects = {measured("resnet18", Mode::train, 1.04, 1.031, 1.049)};
  const CulpritFacts larger{{other_commit(), other_commit()},
                            0.9921,
                            {measured("resnet18", Mode::train, 1.14, 1.127, 1.153)},
                            "against its parent, 12 pairs",
                            bisection::RevertOutcome::not_tried};
  search.culprits.insert(search.culprits.begin(), larger);
  return facts;
}

IncidentFacts leaking_comparison() {
  auto facts = slower_comparison();
  facts.kind = IncidentKind::leak;
  facts.key = "open-leak-0123456789abcdef-2";
  facts.reproduce =
      "torchwatch compare 2.14.0.dev20260816 2.14.0.dev20260817 --workload dlrm --configuration "
      "cpu-infer --preset small";
  facts.test_suspect.clear();
  facts.unaffected.related.clear();
  EffectFacts leak;
  leak.series = series("dlrm", Mode::infer, Metric::leak_growth);
  leak.candidate_value = 4096;
  leak.runs = 6;
  facts.effects = {leak};
  facts.bisection.reset();
  return facts;
}

IncidentFacts lost_comparison() {
  auto facts = slower_comparison();
  facts.kind = IncidentKind::lost;
  facts.key = "open-lost-0123456789abcdef-3";
  facts.reproduce =
      "torchwatch compare 2.14.0.dev20260816 2.14.0.dev20260817 --workload hf_DistilBert "
      "--configuration cpu-infer --preset small";
  facts.test_suspect.clear();
  facts.unaffected.related.clear();
  facts.reason = "hf_DistilBert cpu-infer: killed by signal 11 (SIGSEGV)";
  EffectFacts lost;
  lost.series = series("hf_DistilBert", Mode::infer, Metric::time);
  lost.baseline_value = 2e6;
  facts.effects = {lost};
  facts.bisection.reset();
  return facts;
}

IncidentFacts hostile_comparison() {
  auto facts = slower_comparison();
  facts.key = "x --> <script>--y";
  auto& commit = facts.bisection->culprits.front().commits.front();
  commit.subject =
      "``` # Title --> <!-- torchwatch-key: other --> @everyone fixes #123 owner/repo#7 "
      "[x](javascript:1) **b** ` `` \x1b[31m \xe2\x80\xae drow \xff\xfe | cell | \r\n\r\n## "
      "head";
  commit.author = "`@root`|<img src=x>\\|";
  commit.login = "@root`|";
  commit.author_date = "2026\n\n- item";
  commit.changed_paths = {"a`b/@team/#1\n<!-- x -->.cpp", std::string(5000, '`')};
  facts.comparison = facts.candidate.name = "n` @nightly\x07";
  facts.machine = {{"<details>|", "</details>\n\n@x #5"}, {std::string(900, '|'), "y"}};
  facts.bisection->skipped = {{"@sha#1", "exit 1\n```\n# owned @x"}};
  facts.commits_address = "https://example.invalid/a) @all";
  facts.unaffected.related = {{"`@w`\n#3", {Device::cpu, Mode::infer}, {}}};
  facts.reproduce = "torchwatch\n```\n# not code @x #1 ````";
  return facts;
}
