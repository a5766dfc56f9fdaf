#include "torchwatch/nightly/incident_facts.hpp"

#include <algorithm>
#include <cmath>

#include "torchwatch/nightly/night_summary.hpp"
#include "torchwatch/nightly/search_order.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/night_store.hpp"
#include "torchwatch/storage/run_store.hpp"

namespace torchwatch::nightly {
namespace {

report::BuildFacts build_facts(const storage::BuildRow& row) {
  return {row.name, row.version, row.trunk_commit, row.content_hash};
}

report::CommitFacts commit_facts(const Workshop& workshop, const std::string& sha) {
  report::CommitFacts facts;
  facts.sha = sha;
  if (workshop.history == nullptr) return facts;
  const auto commit = workshop.history->commit(sha);
  if (!commit) return facts;
  facts.subject = commit->subject;
  facts.author = commit->author_name;
  facts.author_date = doors::iso_utc(commit->author_time * 1000);
  facts.changed_paths = commit->changed_paths;
  return facts;
}

/// As a search measured it.
report::EffectFacts measured_effect(const TargetEffect& effect) {
  report::EffectFacts facts;
  facts.target = effect.target;
  facts.runs = effect.pairs * 2;
  if (is_relative(effect.target.metric)) {
    facts.ratio = std::exp(effect.effect);
    facts.interval_low = std::exp(effect.low);
    facts.interval_high = std::exp(effect.high);
  } else {
    facts.candidate_value = effect.effect;
    facts.interval_low = effect.low;
    facts.interval_high = effect.high;
  }
  return facts;
}

/// As the night judged it.
report::EffectFacts judged_effect(const storage::VerdictRow& row) {
  report::EffectFacts facts;
  facts.target = row.target;
  facts.ratio = row.ratio;
  facts.interval_low = row.interval_low;
  facts.interval_high = row.interval_high;
  facts.baseline_value = row.baseline_value;
  facts.candidate_value = row.candidate_value;
  facts.baseline_spread = row.baseline_spread;
  facts.candidate_spread = row.candidate_spread;
  facts.runs = row.runs;
  return facts;
}

std::vector<report::CommitFacts> commits_facts(const Workshop& workshop,
                                               const std::vector<std::string>& shas) {
  std::vector<report::CommitFacts> facts;
  for (const auto& sha : shas) facts.push_back(commit_facts(workshop, sha));
  return facts;
}

report::CulpritFacts culprit_facts(const Workshop& workshop, const CulpritFinding& finding) {
  report::CulpritFacts facts;
  facts.commits = commits_facts(workshop, finding.commits);
  facts.confidence = finding.confidence;
  facts.verified = finding.verified;
  for (const auto& effect : finding.effects) facts.effects.push_back(measured_effect(effect));
  return facts;
}

/// The command that searches again what this incident is about.
std::string reproduce_command(const report::IncidentFacts& facts) {
  std::string command =
      "torchwatch bisect " + facts.baseline.trunk_commit + " " + facts.candidate.trunk_commit;
  if (facts.effects.empty()) return command;
  const auto& target = facts.effects.front().target;
  return command + " --workload " + target.cell.workload + " --device " +
         std::string(to_string(target.cell.configuration.device)) + " --mode " +
         std::string(to_string(target.cell.configuration.mode)) + " --metric " +
         std::string(to_string(target.metric));
}

Result<std::map<std::string, std::string>> machine_facts(Workshop& workshop, storage::Id night) {
  storage::RunStore runs(workshop.database);
  TW_TRY(const auto rows, runs.runs_of({storage::OwnerKind::night, night}));
  for (const auto& row : rows) {
    if (row.environment_digest.empty()) continue;
    TW_TRY(const auto environment, runs.environment(row.environment_digest));
    return environment.facts;
  }
  return std::map<std::string, std::string>{};
}

}  // namespace

report::SearchFacts search_facts(const Workshop& workshop, const storage::BisectionRow& row,
                                 const SearchResult& result) {
  report::SearchFacts facts;
  facts.good = row.good;
  facts.bad = row.bad;
  facts.commits = result.commits;
  facts.folded = result.folded;
  facts.builds = result.builds;
  facts.runs = result.runs;
  facts.reason = result.reason;
  facts.suspects = commits_facts(workshop, result.suspects);
  facts.suspects_confidence = result.suspects_confidence;
  for (const auto& culprit : result.culprits) {
    facts.culprits.push_back(culprit_facts(workshop, culprit));
  }
  for (const auto& skipped : result.skipped) {
    facts.skipped.push_back({skipped.commit, skipped.reason});
  }
  return facts;
}

Result<report::IncidentFacts> incident_facts(Workshop& workshop,
                                             const storage::IncidentRow& incident,
                                             const storage::NightRow& night) {
  storage::BuildStore builds(workshop.database);
  report::IncidentFacts facts;
  facts.key = incident.key;
  facts.kind = incident.kind;
  facts.title = incident.title;
  facts.confidence = workshop.config.detect.confidence;
  TW_TRY(const auto candidate, builds.get(night.candidate));
  TW_TRY(const auto baseline, builds.get(night.baseline.value_or(0)));
  facts.night = candidate.name;
  facts.candidate = build_facts(candidate);
  facts.baseline = build_facts(baseline);
  TW_TRY(const auto verdicts, storage::NightStore(workshop.database).verdicts_of(night.id));
  for (const auto& target : incident.targets) {
    const auto verdict = std::ranges::find(verdicts, target.target, &storage::VerdictRow::target);
    if (verdict != verdicts.end()) facts.effects.push_back(judged_effect(*verdict));
  }
  TW_TRY(facts.machine, machine_facts(workshop, night.id));
  TW_TRY(const auto plan, parse_plan(night.plan_json));
  facts.nightlies_back = plan.nightlies_back;
  TW_TRY(const auto summary, parse_summary(night.summary_json));
  facts.remarks = in_sentences(summary);
  facts.reproduce = reproduce_command(facts);
  if (!incident.bisection) return facts;
  TW_TRY(const auto bisection, storage::BisectionStore(workshop.database).get(*incident.bisection));
  if (bisection.state == storage::BisectionState::ended) {
    TW_TRY(const auto result, parse_search_result(bisection.answer_json));
    facts.search = search_facts(workshop, bisection, result);
  }
  return facts;
}

}  // namespace torchwatch::nightly
