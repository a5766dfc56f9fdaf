#include "torchwatch/nightly/incident_facts.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/nightly/comparison_summary.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/run_store.hpp"

namespace torchwatch::nightly {
namespace {

report::BuildFacts build_facts(const storage::BuildRow& row) {
  return {row.name, row.version, row.trunk_commit, row.content_hash};
}

report::CommitFacts commit_facts(const comparison::Services& services, const std::string& sha) {
  report::CommitFacts facts;
  facts.sha = sha;
  if (services.history == nullptr) return facts;
  const auto commit = services.history->commit(sha);
  if (!commit) return facts;
  facts.subject = commit->subject;
  facts.author = commit->author_name;
  facts.author_date = platform::iso_utc(commit->author_time * 1000);
  facts.changed_paths = commit->changed_paths;
  return facts;
}

std::vector<report::CommitFacts> commits_facts(const comparison::Services& services,
                                               const std::vector<std::string>& shas) {
  std::vector<report::CommitFacts> facts;
  for (const auto& sha : shas) facts.push_back(commit_facts(services, sha));
  return facts;
}

/// The command that repeats the bisection of the incident's largest effect, on the same benchmark;
/// without the commits of both builds, the command that compares them again.
std::string reproduce_command(const report::IncidentFacts& facts) {
  const bool knows_commits =
      !facts.baseline.trunk_commit.empty() && !facts.candidate.trunk_commit.empty();
  std::vector<std::string> words{"torchwatch"};
  const auto add = [&](std::initializer_list<std::string_view> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (knows_commits) {
    add({"bisect", facts.baseline.trunk_commit, facts.candidate.trunk_commit});
  } else {
    add({"compare", facts.baseline.name, facts.candidate.name});
  }
  if (!facts.effects.empty()) {
    const auto& [benchmark, metric] =
        std::ranges::min_element(facts.effects, report::is_larger)->series;
    add({"--workload", benchmark.workload, "--configuration", to_string(benchmark.configuration)});
    if (benchmark.variant != Variant{}) add({"--variant", to_string(benchmark.variant)});
    if (knows_commits) add({"--metric", to_string(metric)});
  }
  return fmt::format("{}", fmt::join(words, " "));
}

Result<std::map<std::string, std::string>> machine_facts(comparison::Services& services,
                                                         storage::Id comparison) {
  storage::RunStore runs(services.database);
  TW_TRY(const auto rows, runs.runs_of({storage::OwnerKind::comparison, comparison}));
  for (const auto& row : rows) {
    if (row.environment_digest.empty()) continue;
    TW_TRY(const auto environment, runs.environment(row.environment_digest));
    return environment.facts;
  }
  return std::map<std::string, std::string>{};
}

report::CulpritFacts culprit_facts(const comparison::Services& services,
                                   const bisection::NamedCulprit& finding) {
  report::CulpritFacts facts;
  facts.commits = commits_facts(services, finding.commits);
  facts.confidence = finding.confidence;
  facts.verified = finding.verified;
  for (const auto& effect : finding.effects) facts.effects.push_back(effect_facts(effect));
  return facts;
}

}  // namespace

report::EffectFacts effect_facts(const bisection::SeriesEffect& effect) {
  report::EffectFacts facts;
  facts.series = effect.series;
  facts.runs = effect.pairs * 2;
  if (bisection::is_relative(effect.series.metric)) {
    facts.ratio = std::exp(effect.effect);
    facts.interval_low = std::exp(effect.low);
    facts.interval_high = std::exp(effect.high);
  } else {
    facts.difference = effect.effect;
  }
  return facts;
}

report::BisectionFacts bisection_facts(const comparison::Services& services,
                                       const storage::BisectionRow& row,
                                       const bisection::BisectionResult& result) {
  report::BisectionFacts facts;
  facts.good = row.good;
  facts.bad = row.bad;
  facts.commits = result.commits;
  facts.folded = result.folded;
  facts.builds = result.builds;
  facts.runs = result.runs;
  facts.reason = result.reason;
  facts.suspects = commits_facts(services, result.suspects);
  facts.suspects_confidence = result.suspects_confidence;
  for (const auto& culprit : result.culprits) {
    facts.culprits.push_back(culprit_facts(services, culprit));
  }
  for (const auto& skipped : result.skipped) {
    facts.skipped.push_back({skipped.commit, skipped.reason});
  }
  return facts;
}

Result<report::IncidentFacts> incident_facts(comparison::Services& services,
                                             const storage::IncidentRow& incident,
                                             const storage::ComparisonRow& comparison) {
  storage::BuildStore builds(services.database);
  report::IncidentFacts facts;
  facts.key = incident.key;
  facts.kind = incident.kind;
  facts.confidence = services.config.detect.confidence;
  TW_TRY(const auto candidate, builds.get(comparison.candidate));
  TW_TRY(const auto baseline, builds.get(comparison.baseline.value_or(0)));
  facts.comparison = candidate.name;
  facts.candidate = build_facts(candidate);
  facts.baseline = build_facts(baseline);
  TW_TRY(const auto verdicts,
         storage::ComparisonStore(services.database).verdicts_of(comparison.id));
  for (const auto& series : incident.series) {
    const auto verdict = std::ranges::find(verdicts, series.series, &storage::VerdictRow::series);
    if (verdict == verdicts.end()) continue;
    facts.effects.push_back(report::effect_of(*verdict));
    if (incident.kind == IncidentKind::lost && facts.reason.empty()) facts.reason = verdict->reason;
  }
  TW_TRY(facts.machine, machine_facts(services, comparison.id));
  facts.nightlies_back = comparison.nightlies_back;
  TW_TRY(const auto summary, parse_summary(comparison.summary_json));
  facts.remarks = in_sentences(summary);
  facts.reproduce = reproduce_command(facts);
  if (!incident.bisection) return facts;
  TW_TRY(const auto bisection, storage::BisectionStore(services.database).get(*incident.bisection));
  if (bisection.state == storage::BisectionState::ended) {
    TW_TRY(const auto result, bisection::parse_bisection_result(bisection.result_json));
    facts.bisection = bisection_facts(services, bisection, result);
  }
  return facts;
}

}  // namespace torchwatch::nightly
