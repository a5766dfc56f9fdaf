#include "text_samples.hpp"

#include <cmath>

namespace torchwatch::terminal {
namespace {

const std::string kGood = "1f0c13af6e2b9d8c7b6a5f4e3d2c1b0a9f8e7d6c";
const std::string kBad = "9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b";
const std::string kNoBuild = "3333333f0a9e8b7d6c5e4f3a2b1c0d9e8f7a6b5c";

storage::BuildRow build(const std::string& name, const std::string& commit) {
  storage::BuildRow row;
  row.name = name;
  row.version = "2.14.0.dev" + name;
  row.trunk_commit = commit;
  return row;
}

storage::VerdictRow with_reason(storage::VerdictRow row, std::string reason) {
  row.reason = std::move(reason);
  return row;
}

storage::IncidentRow incident(storage::Id id, IncidentKind kind, std::string title,
                              const std::vector<storage::VerdictRow>& rows) {
  storage::IncidentRow row;
  row.id = id;
  row.kind = kind;
  row.title = std::move(title);
  row.opened_at = kNow;
  for (const auto& each : rows) row.series.push_back(storage::incident_series(each));
  return row;
}

}  // namespace

Benchmark benchmark(const std::string& workload, Mode mode) {
  return {workload, {Device::cpu, mode}, {}};
}

storage::VerdictRow verdict(const std::string& workload, Metric metric, Verdict word,
                            double ratio) {
  storage::VerdictRow row;
  row.series = {benchmark(workload), metric};
  row.verdict = word;
  row.ratio = ratio;
  row.interval_low = ratio > 0 ? ratio - 0.02 : 0;
  row.interval_high = ratio > 0 ? ratio + 0.02 : 0;
  row.baseline_value = is_leak(metric) ? 0 : 9.684e6;
  row.candidate_value = is_leak(metric) ? 4096 : 9.684e6 * ratio;
  row.runs = 24;
  return row;
}

ComparisonFacts quiet_comparison() {
  ComparisonFacts facts;
  facts.comparison.id = 12;
  facts.comparison.baseline = 1;
  facts.comparison.state = storage::ComparisonState::reported;
  facts.baseline = build("2026-08-16", kGood);
  facts.candidate = build("2026-08-17", kBad);
  facts.confidence = 0.98;
  facts.runs = 640;
  facts.seconds = 664;
  for (const auto metric : {Metric::time, Metric::cpu_peak}) {
    facts.verdicts.push_back(verdict("resnet18", metric, Verdict::unchanged, 1.001));
    facts.verdicts.push_back(verdict("dlrm", metric, Verdict::unchanged, 0.999));
  }
  return facts;
}

ComparisonFacts eventful_comparison() {
  auto facts = quiet_comparison();
  facts.builds = 4;
  const std::vector slower{
      verdict("nvidia_deeprecommender", Metric::time, Verdict::regressed, 1.088),
      verdict("soft_actor_critic", Metric::time, Verdict::regressed, 1.167)};
  const auto leaking = verdict("tts_angular", Metric::leak_growth, Verdict::regressed, 0);
  const auto lost = with_reason(verdict("bert", Metric::time, Verdict::failed, 0),
                                "the run was killed by SIGSEGV");
  const auto lost_memory = with_reason(verdict("bert", Metric::cpu_peak, Verdict::failed, 0),
                                       "the run was killed by SIGSEGV");
  for (const auto& row : slower) facts.verdicts.push_back(row);
  facts.verdicts.push_back(leaking);
  facts.verdicts.push_back(verdict("dlrm", Metric::cpu_peak_resident, Verdict::improved, 0.871));
  facts.verdicts.push_back(lost);
  facts.verdicts.push_back(lost_memory);
  facts.verdicts.push_back(
      with_reason(verdict("vgg16", Metric::time, Verdict::inconclusive, 1.03),
                  "too noisy: a change of 12.1 % would have been found, 7 % is wanted"));
  facts.verdicts.push_back(
      with_reason(verdict("vgg16", Metric::device_time, Verdict::unsupported, 0), "no device"));
  auto moved = verdict("alexnet", Metric::cpu_peak, Verdict::unchanged, 1.007);
  moved.interval_low = moved.interval_high = moved.ratio;
  facts.verdicts.push_back(moved);
  facts.newly_measured = {benchmark("timm_vovnet", Mode::infer)};
  facts.remarks = {
      "The machine is not the same as in the nightly before: cpu_governor: "
      "performance -> powersave."};
  facts.incidents = {
      {incident(1, IncidentKind::regression, "[perf] 5d1c1c3f0a9e: +16.7 % time", slower),
       "5d1c1c3f0a9e Check every element in addmm before the call", 0.9973, "filed as issue #12"},
      {incident(2, IncidentKind::leak, "[leak] +4,096 bytes/iteration, tts_angular cpu-train",
                {leaking}),
       "", 0, "in the outbox, not filed yet"},
      {incident(3, IncidentKind::lost, "[lost] bert cpu-train gives no result",
                {lost, lost_memory}),
       "", 0, "in the outbox, not filed yet"}};
  return facts;
}

report::TraceStep step(bisection::EventKind kind, std::optional<bisect::Purpose> purpose,
                       const std::string& commit) {
  report::TraceStep step;
  step.kind = kind;
  step.purpose = purpose;
  step.commit = commit;
  return step;
}

bisection::BisectionResult found_culprit() {
  bisection::BisectionResult result;
  result.culprits = {{.commits = {kSlowCommit},
                      .parent = kGood,
                      .confidence = 0.9973,
                      .effects = {{{benchmark("soft_actor_critic"), Metric::time},
                                   std::log(1.164),
                                   std::log(1.139),
                                   std::log(1.182),
                                   12}},
                      .verified =
                          "against 1f0c13af6e2b, the commit before it that builds, 12 fresh "
                          "pairs; reverting it on the newest commit undoes the change (with the "
                          "commit: soft_actor_critic cpu-train time +16.1 %)"}};
  result.commits = 9;
  result.folded = 0;
  result.builds = 4;
  result.runs = 51;
  result.skipped = {{kNoBuild, "the recipe exited with 125"}};
  return result;
}

IncidentFacts slow_incident() {
  const auto comparison = eventful_comparison();
  const Series series{benchmark("soft_actor_critic"), Metric::time};
  IncidentFacts facts;
  facts.row = comparison.incidents.front().row;
  facts.row.bisection = 3;
  facts.baseline = "2026-08-16";
  facts.candidate = "2026-08-17";
  facts.confidence = 0.98;
  facts.result = found_culprit();
  facts.reproduce =
      "torchwatch compare 2026-08-16 2026-08-17 --workload soft_actor_critic --configuration "
      "cpu-train --preset small";
  auto ends = step(bisection::EventKind::measured, bisect::Purpose::verify_ends, kBad);
  ends.against = kGood;
  ends.readings = {{series, std::log(1.161), 4}};
  auto unbuildable = step(bisection::EventKind::unbuildable, std::nullopt, kNoBuild);
  unbuildable.reason = "the recipe exited with 125";
  auto probe = step(bisection::EventKind::measured_alone, bisect::Purpose::probe, kSlowCommit);
  probe.readings = {{series, std::log(1.17), 1}};
  probe.probability = 0.9973;
  probe.after = kGood;
  probe.up_to = kSlowCommit;
  facts.trace = {ends, unbuildable, probe};
  storage::OutboxRow message;
  message.key = "open-1";
  message.state = storage::OutboxState::sent;
  message.issue_number = 12;
  facts.messages = {message};
  return facts;
}

}  // namespace torchwatch::terminal
