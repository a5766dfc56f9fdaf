#include "torchwatch/nightly/incident_facts.hpp"

#include <algorithm>
#include <charconv>

#include "login.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/nightly/comparison_summary.hpp"
#include "torchwatch/report/culprit_tally.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

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
  facts.login = login_of(commit->author_email);
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

const Series* worst_series(const report::IncidentFacts& facts) {
  if (facts.effects.empty()) return nullptr;
  return &std::ranges::min_element(facts.effects, report::is_larger)->series;
}

/// The commands that repeat what the incident's largest effect rests on.
void add_commands(report::IncidentFacts& facts) {
  const auto* worst = worst_series(facts);
  if (worst == nullptr) return;
  facts.reproduce = report::compare_command(facts.baseline.name, facts.candidate.name,
                                            worst->benchmark, facts.preset);
  const auto threads = facts.machine.find("threads");
  if (worst->metric == Metric::time) {
    facts.torchbench = report::torchbench_command(
        worst->benchmark, threads == facts.machine.end() ? "" : threads->second);
  }
  if (!facts.bisection) return;
  const auto* named = bisection::leading(facts.bisection->culprits);
  if (named == nullptr || named->commits.size() != 1) return;
  facts.test_suspect = report::suspect_command(named->commits.front().sha, *worst, facts.preset);
}

report::Disturbance disturbance_of(const storage::Disturbance& found,
                                   const std::map<std::string, std::string>& facts) {
  report::Disturbance disturbance{.runs = found.runs,
                                  .load_least = found.load_least,
                                  .load_most = found.load_most,
                                  .stolen = std::nullopt,
                                  .is_virtual = found.is_virtual};
  const auto cpus = facts.find("cpus");
  if (cpus == facts.end()) return disturbance;
  const auto& digits = cpus->second;
  int count = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (count > 0 && found.seconds > 0) {
    disturbance.stolen = found.stolen_seconds / (found.seconds * count);
  }
  return disturbance;
}

/// Adds the facts of a run of the pass that found the incident, and what the machine did beside its
/// runs: what a memory run had does not explain a time. What the builds consist of stands
/// elsewhere.
Status add_machine(comparison::Services& services, storage::Id comparison, Pass pass,
                   report::IncidentFacts& to) {
  storage::RunStore runs(services.database);
  const storage::Owner owner{storage::OwnerKind::comparison, comparison};
  TW_TRY(const auto rows, runs.runs_of(owner));
  const storage::RunRow* chosen = nullptr;
  for (const auto& row : rows) {
    if (row.environment_digest.empty()) continue;
    if (chosen == nullptr || (chosen->pass != pass && row.pass == pass)) chosen = &row;
  }
  if (chosen == nullptr) return {};
  TW_TRY(const auto environment, runs.environment(chosen->environment_digest));
  for (const auto& [name, value] : environment.facts) {
    if (!name.starts_with("build.")) to.machine[name] = value;
  }
  TW_TRY(const auto found, runs.disturbance_of(owner, chosen->pass));
  to.disturbance = disturbance_of(found, environment.facts);
  return {};
}

report::Unaffected unaffected_of(const report::IncidentFacts& facts,
                                 const std::vector<storage::VerdictRow>& verdicts) {
  report::Unaffected unaffected;
  unaffected.series = static_cast<int>(verdicts.size());
  for (const auto& verdict : verdicts) {
    unaffected.undecided += verdict.verdict == Verdict::inconclusive ? 1 : 0;
    if (verdict.verdict != Verdict::unchanged) continue;
    ++unaffected.unchanged;
    const auto& [benchmark, metric] = verdict.series;
    const bool is_related =
        metric == Metric::time && std::ranges::any_of(facts.effects, [&](const auto& effect) {
          return effect.series.benchmark.workload == benchmark.workload;
        });
    if (is_related) unaffected.related.push_back(benchmark);
  }
  return unaffected;
}

/// What a run could have read that is confined by nothing.
std::vector<std::string> secrets_of(const config::Config& config) {
  std::vector<std::string> secrets;
  for (const auto& file : {config.web.token_file, config.github.token_file}) {
    auto secret = config::read_secret(file);
    if (secret) secrets.push_back(*std::move(secret));
  }
  return secrets;
}

Result<std::vector<std::string>> output_of(const comparison::Services& services,
                                           const storage::IncidentRow& incident) {
  TW_TRY(auto loss, report::loss_of(services.database, incident, secrets_of(services.config)));
  return std::move(loss.output);
}

/// The value of a series in the nightlies up to `comparison`, oldest first.
Result<std::vector<double>> nightly_values(comparison::Services& services, const Series& series,
                                           const storage::ComparisonRow& comparison) {
  constexpr int kNightlies = 30;
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(auto rows, comparisons.nightlies_before(comparison.id, kNightlies - 1));
  std::ranges::reverse(rows);
  rows.push_back(comparison);
  std::vector<double> values;
  for (const auto& row : rows) {
    TW_TRY(const auto verdicts, comparisons.verdicts_of(row.id));
    const auto verdict = std::ranges::find(verdicts, series, &storage::VerdictRow::series);
    const bool has_value = verdict != verdicts.end() && verdict->verdict != Verdict::failed &&
                           verdict->verdict != Verdict::unsupported;
    if (!has_value) continue;
    values.push_back(verdict->candidate_value);
  }
  return values;
}

/// The samples of all runs of a benchmark that a comparison timed. Thinned ones are missing.
Status add_samples(comparison::Services& services, const Benchmark& benchmark,
                   const storage::ComparisonRow& comparison, report::SeriesRecord& record) {
  storage::RunStore runs(services.database);
  TW_TRY(const auto rows, runs.runs_of({storage::OwnerKind::comparison, comparison.id}));
  for (const auto& row : rows) {
    const bool is_timed =
        row.benchmark == benchmark && row.pass == Pass::timing && row.status == RunStatus::ok;
    if (!is_timed) continue;
    auto& to =
        row.build == comparison.candidate ? record.candidate_samples : record.baseline_samples;
    TW_TRY(const auto samples, runs.samples_of(row.attempt));
    to.insert(to.end(), samples.begin(), samples.end());
  }
  return {};
}

/// What is known of the series that changed most.
Status add_record(comparison::Services& services, const storage::ComparisonRow& comparison,
                  report::IncidentFacts& facts) {
  const auto* worst = worst_series(facts);
  if (worst == nullptr) return {};
  const storage::Owner owner{storage::OwnerKind::comparison, comparison.id};
  TW_TRY(facts.reproduce_seconds,
         storage::RunStore(services.database).seconds_of(owner, worst->benchmark));
  TW_TRY(facts.record.nightlies, nightly_values(services, *worst, comparison));
  if (worst->metric != Metric::time) return {};
  return add_samples(services, worst->benchmark, comparison, facts.record);
}

/// How commits that bisections named held; empty before the first.
Result<std::string> tally_of_culprits(comparison::Services& services) {
  TW_TRY(const auto tally, report::culprit_tally(services.database));
  return tally.named == 0 ? std::string() : report::culprit_tally_text(tally);
}

}  // namespace

report::BisectionFacts bisection_facts(const comparison::Services& services,
                                       const storage::BisectionRow& row,
                                       const bisection::BisectionResult& result) {
  report::BisectionFacts facts;
  facts.good = row.good;
  facts.bad = row.bad;
  facts.commits = result.commits;
  facts.folded = result.folded;
  facts.builds = result.builds;
  facts.made_elsewhere = result.made_elsewhere;
  facts.runs = result.runs;
  facts.reason = without_asker(result.reason);
  facts.suspects = commits_facts(services, result.suspects);
  facts.suspects_confidence = result.suspects_confidence;
  for (const auto& culprit : result.culprits) {
    auto& cause = facts.culprits.emplace_back(report::cause_of(culprit));
    cause.commits = commits_facts(services, culprit.commits);
  }
  for (const auto& skipped : result.skipped) {
    facts.skipped.push_back({skipped.commit, skipped.reason});
  }
  return facts;
}

Result<report::IncidentFacts> incident_facts(comparison::Services& services,
                                             const storage::IncidentRow& incident,
                                             const comparison::Comparison& compared) {
  const auto& [comparison, plan] = compared;
  storage::BuildStore builds(services.database);
  report::IncidentFacts facts;
  facts.key = incident.key;
  facts.kind = incident.kind;
  facts.confidence = comparison.confidence.value_or(services.config.detect.confidence);
  facts.id = incident.id;
  facts.commits_address = config::commits_address(services.config);
  facts.page = config::page_of_incident(services.config, incident.id);
  facts.cc = services.config.github.cc;
  if (!comparison.plan_json.empty()) facts.preset = plan.preset;
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
  TW_TRY(facts.output, output_of(services, incident));
  const auto* worst = worst_series(facts);
  const auto pass = worst == nullptr ? Pass::timing : pass_of(worst->metric);
  TW_TRY_VOID(add_machine(services, comparison.id, pass, facts));
  facts.unaffected = unaffected_of(facts, verdicts);
  facts.nightlies_back = comparison.nightlies_back;
  TW_TRY(const auto summary, parse_summary(comparison.summary_json));
  facts.remarks = in_sentences(summary);
  add_commands(facts);
  if (!incident.bisection) return facts;
  TW_TRY(const auto bisection, storage::BisectionStore(services.database).get(*incident.bisection));
  if (bisection.state == storage::BisectionState::ended) {
    TW_TRY(const auto result, bisection::parse_bisection_result(bisection.result_json));
    facts.bisection = bisection_facts(services, bisection, result);
    add_commands(facts);
  }
  return facts;
}

Status add_history(comparison::Services& services, const storage::ComparisonRow& comparison,
                   report::IncidentFacts& facts) {
  if (const auto added = add_record(services, comparison, facts); !added) {
    if (added.error().code != ErrorCode::corrupt) return added;
    services.progress.log("the issue of incident " + std::to_string(facts.id) +
                          " lacks its history: " + added.error().text());
    facts.record = {};
  }
  TW_TRY(facts.tally, tally_of_culprits(services));
  return {};
}

}  // namespace torchwatch::nightly
