#include "torchwatch/triage/incident_facts.hpp"

#include <algorithm>
#include <charconv>

#include "login.hpp"
#include "torchwatch/bisection/early_end.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/comparison/run_recorder.hpp"
#include "torchwatch/evidence/work.hpp"
#include "torchwatch/operators/attribution.hpp"
#include "torchwatch/pictures/picture.hpp"
#include "torchwatch/records/machine_facts.hpp"
#include "torchwatch/report/culprits.hpp"
#include "torchwatch/report/incident_state.hpp"
#include "torchwatch/report/reproduce.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/secrets/secrets.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/verdicts.hpp"
#include "torchwatch/tracing/tracing.hpp"
#include "torchwatch/triage/comparison_summary.hpp"

namespace torchwatch::triage {
namespace {

report::BuildFacts build_facts(const storage::BuildRow& row) {
  return {row.name, row.version, row.trunk_commit, row.content_hash};
}

std::vector<report::CommitFacts> commits_facts(const comparison::Services& services,
                                               const std::vector<std::string>& shas) {
  std::vector<report::CommitFacts> facts;
  for (const auto& sha : shas) facts.push_back(commit_facts(services.history, sha));
  return facts;
}

const Series* worst_series(const report::IncidentFacts& facts) {
  if (facts.effects.empty()) return nullptr;
  return &std::ranges::min_element(facts.effects, report::is_larger)->series;
}

/// The series in which a culprit is measured again: the incident's largest if it was measured
/// there, else its own largest.
Series series_of(const report::CulpritFacts& culprit, const Series& worst) {
  const auto& own = culprit.effects;
  const bool is_measured = std::ranges::find(own, worst, &report::EffectFacts::series) != own.end();
  if (is_measured || own.empty()) return worst;
  return std::ranges::min_element(own, report::is_larger)->series;
}

/// The commands that repeat what the incident's largest effect rests on.
void add_commands(report::IncidentFacts& facts) {
  const auto* worst = worst_series(facts);
  if (worst == nullptr) return;
  facts.reproduce =
      report::compare_command(facts.baseline.name, facts.candidate.name, *worst, facts.preset);
  const auto threads = facts.machine.find("threads");
  if (worst->metric == Metric::time) {
    facts.torchbench = report::torchbench_command(
        worst->benchmark, threads == facts.machine.end() ? "" : threads->second);
  }
  if (!facts.bisection) return;
  const auto& culprits = facts.bisection->culprits;
  const auto is_one = [](const auto& culprit) { return culprit.commits.size() == 1; };
  const auto named = std::ranges::find_if(culprits, is_one);
  if (named == culprits.end()) return;
  facts.test_suspect =
      report::suspect_command(named->commits.front().sha, series_of(*named, *worst), facts.preset);
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
    if (is_of_machine(name)) to.machine[name] = value;
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

Result<std::vector<std::string>> output_of(const comparison::Services& services,
                                           const storage::IncidentRow& incident) {
  TW_TRY(auto loss, report::loss_of(services.database, incident, secrets_of(services.config)));
  return std::move(loss.output);
}

/// Whether GitHub, which has no token, may fetch pictures of the pages.
bool is_shown_to_strangers(const config::Config& config) {
  return config.web.anonymous_read == config::AnonymousRead::always;
}

/// The drawings as a stranger sees them: the issue may be public.
Result<report::Drawings> drawings_of(comparison::Services& services,
                                     const storage::IncidentRow& incident,
                                     const report::IncidentFacts& facts) {
  const auto& config = services.config;
  const auto context = pictures::context_of(services.database, config, false);
  const auto steps_of = [&](const auto& row) {
    return bisection::trace_of(services.database, row);
  };
  TW_TRY(const auto drawn, pictures::drawings_of(context, incident, steps_of));
  constexpr int kColumns = 80;
  report::Drawings drawings{.texts = pictures::texts_of(drawn, kColumns)};
  if (facts.page.empty() || !is_shown_to_strangers(config)) return drawings;
  TW_TRY(const auto picture, pictures::picture_of(context, incident));
  if (picture) drawings.picture = pictures::address_of(*picture, facts.page);
  return drawings;
}

/// The same, without damaged samples, which keep no issue back.
Result<report::Drawings> intact_drawings_of(comparison::Services& services,
                                            const storage::IncidentRow& incident,
                                            const report::IncidentFacts& facts) {
  auto drawings = drawings_of(services, incident, facts);
  if (drawings || drawings.error().code != ErrorCode::corrupt) return drawings;
  services.progress.log("the issue of incident " + std::to_string(facts.id) +
                        " lacks its drawings: " + drawings.error().text());
  return report::Drawings{};
}

/// Where readers find the traces of both builds.
Result<std::vector<report::TraceFacts>> traces_of(comparison::Services& services,
                                                  const storage::IncidentRow& incident,
                                                  const report::IncidentFacts& facts) {
  std::vector<report::TraceFacts> traces;
  if (facts.page.empty()) return traces;
  TW_TRY(const auto kept, tracing::kept_of(services.database, services.config, incident));
  for (const auto& trace : kept) {
    traces.push_back({trace.side, config::page_of_trace(services.config, trace.run)});
  }
  return traces;
}

/// "soft_actor_critic cpu-train: aten::addmm takes +38.0 %, ..."; empty where nothing was watched.
Result<std::string> operators_text(storage::Database& database,
                                   const storage::IncidentRow& incident) {
  TW_TRY(const auto found, operators::attribution_of(database, incident));
  return found ? operators::text_with_benchmark(*found) : std::string();
}

/// How commits that bisections named held; empty before the first.
Result<std::string> tally_of_culprits(comparison::Services& services) {
  TW_TRY(const auto audits, evidence::audits_of(services.database));
  return evidence::held_text(audits.culprits);
}

/// Whether nothing is left to say of why a search went no further.
bool names_everything(const bisection::BisectionResult& result) {
  const auto names_one = [](const auto& culprit) { return culprit.commits.size() == 1; };
  return result.outcome == bisection::BisectionOutcome::found && result.suspects.empty() &&
         std::ranges::all_of(result.culprits, names_one);
}

}  // namespace

report::CommitFacts commit_facts(const bisect::CommitHistory* history, const std::string& sha) {
  report::CommitFacts facts;
  facts.sha = sha;
  if (history == nullptr) return facts;
  const auto commit = history->commit(sha);
  if (!commit) return facts;
  facts.subject = commit->subject;
  facts.author = commit->author_name;
  facts.login = login_of(commit->author_email);
  facts.author_date = platform::iso_utc(commit->author_time * 1000);
  facts.changed_paths = commit->changed_paths;
  return facts;
}

std::vector<std::string> secrets_of(const config::Config& config) {
  std::vector<std::string> secrets;
  for (const auto& file : config::secret_files(config)) {
    auto secret = secrets::read_secret_text(file);
    if (secret) secrets.push_back(*std::move(secret));
  }
  return secrets;
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
  facts.made_elsewhere = result.made_elsewhere;
  facts.runs = result.runs;
  if (!names_everything(result)) facts.reason = bisection::public_reason(result.reason);
  facts.did_not_reproduce = result.outcome == bisection::BisectionOutcome::did_not_reproduce;
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

namespace {

/// The same of an incident's bisection; nothing where it has none, or that has not ended.
Result<std::optional<report::BisectionFacts>> bisection_facts_of(
    const comparison::Services& services, const storage::IncidentRow& incident) {
  if (!incident.bisection) return std::nullopt;
  TW_TRY(const auto row, storage::BisectionStore(services.database).get(*incident.bisection));
  if (row.state != storage::BisectionState::ended) return std::nullopt;
  TW_TRY(const auto result, bisection::parse_bisection_result(row.result_json));
  return std::optional(bisection_facts(services, row, result));
}

}  // namespace

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
  TW_TRY(const auto verdicts, storage::verdicts_of(services.database, comparison.id));
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
  TW_TRY(facts.bisection, bisection_facts_of(services, incident));
  add_commands(facts);
  return facts;
}

Status add_history(comparison::Services& services, const storage::ComparisonRow& comparison,
                   const storage::IncidentRow& incident, report::IncidentFacts& facts) {
  if (const auto* worst = worst_series(facts); worst != nullptr) {
    const storage::Owner owner{storage::OwnerKind::comparison, comparison.id};
    TW_TRY(facts.reproduce_seconds,
           storage::RunStore(services.database).seconds_of(owner, worst->benchmark));
  }
  TW_TRY(facts.tally, tally_of_culprits(services));
  TW_TRY(facts.drawings, intact_drawings_of(services, incident, facts));
  TW_TRY(facts.traces, traces_of(services, incident, facts));
  TW_TRY(facts.operators, operators_text(services.database, incident));
  return {};
}

}  // namespace torchwatch::triage
