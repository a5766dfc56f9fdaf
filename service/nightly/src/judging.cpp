#include "judging.hpp"

#include <algorithm>
#include <cmath>

#include "known_changes.hpp"
#include "torchwatch/bisection/opening.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/comparison/comparison.hpp"
#include "torchwatch/detect/grouping.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/issues/issue.hpp"
#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/tracing/operator_screen.hpp"
#include "torchwatch/tracker/mute_store.hpp"
#include "torchwatch/triage/comparison_summary.hpp"
#include "torchwatch/triage/reporting.hpp"

namespace torchwatch::nightly {
namespace {

using comparison::Comparison;
using storage::ComparisonRow;
using storage::IncidentRow;
using storage::VerdictRow;

bool is_silent(Verdict verdict) {
  return verdict == Verdict::failed || verdict == Verdict::unsupported;
}

bool had_value(const VerdictRow& verdict) {
  return !is_silent(verdict.verdict) && verdict.candidate_value > 0;
}

/// A benchmark that fails has a verdict on one metric of its pass, so any metric of the pass
/// counts.
bool is_same_pass(const Series& a, const Series& b) {
  return a.benchmark == b.benchmark && pass_of(a.metric) == pass_of(b.metric);
}

double effect_of(const storage::VerdictRow& verdict) {
  return bisection::is_relative(verdict.series.metric) && verdict.ratio > 0
             ? std::log(verdict.ratio)
             : verdict.candidate_value - verdict.baseline_value;
}

/// Returns a key made of what changed and of no date, so that the same change is recognised.
std::string key_of(IncidentKind kind, const std::vector<storage::IncidentSeriesRow>& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(to_string(row.series));
  std::ranges::sort(names);
  std::string all;
  for (const auto& name : names) all += name + "\n";
  return std::string(to_string(kind)) + "-" + hex_of(comparison::stable_hash(all));
}

std::vector<IncidentRow> incidents_of(storage::Id comparison,
                                      const std::vector<comparison::JudgedSeries>& judged) {
  std::vector<detect::Change> changes;
  std::vector<const VerdictRow*> regressed;
  // What the build lost, and what the environment lost, are two incidents.
  IncidentRow lost;
  IncidentRow lost_with_both;
  lost.kind = lost_with_both.kind = IncidentKind::lost;
  for (const auto& [verdict, is_lost] : judged) {
    auto series = storage::incident_series(verdict);
    auto& of = report::has_no_value(report::effect_of(series)) ? lost_with_both : lost;
    if (is_lost) of.series.push_back(std::move(series));
    if (verdict.verdict != Verdict::regressed) continue;
    changes.push_back({verdict.series, effect_of(verdict)});
    regressed.push_back(&verdict);
  }
  std::vector<IncidentRow> incidents;
  for (const auto& group : detect::group(changes)) {
    IncidentRow incident;
    incident.kind = group.kind;
    for (const auto member : group.members) {
      incident.series.push_back(storage::incident_series(*regressed[member]));
    }
    incidents.push_back(std::move(incident));
  }
  for (auto* of : {&lost, &lost_with_both}) {
    if (!of->series.empty()) incidents.push_back(std::move(*of));
  }
  for (auto& incident : incidents) incident.comparison = comparison;
  return incidents;
}

/// Returns what is not muted. A muted series keeps its verdict; no incident is opened of it.
Result<std::vector<comparison::JudgedSeries>> without_muted(
    comparison::Services& services, std::vector<comparison::JudgedSeries> judged) {
  TW_TRY(const auto mutes, storage::MuteStore(services.database).active(services.clock.wall_now()));
  std::erase_if(judged, [&](const comparison::JudgedSeries& each) {
    return std::ranges::any_of(mutes, [&](const storage::MuteRow& mute) {
      return storage::is_muted_by(mute.target, each.verdict.series);
    });
  });
  return judged;
}

/// Notes with the open incidents that have the change that it was found again, and opens an
/// incident of the rest.
Status open_incident(comparison::Services& services, const Comparison& comparison,
                     const comparison::SeriesSettings& settings, IncidentRow incident) {
  storage::IncidentStore store(services.database);
  TW_TRY(const auto known, known_changes(services, comparison.row, incident));
  // Outputs that are as they were differ from the changed ones, too: a recheck tells which.
  if (incident.kind != IncidentKind::result) {
    for (const auto id : known.incidents) {
      TW_TRY_VOID(store.add_recurrence(id, comparison.row.id));
    }
  }
  if (known.rest.empty()) return {};
  incident.series = known.rest;
  incident.key = key_of(incident.kind, incident.series);
  TW_TRY(const auto namesake, store.find_open(incident.key));
  // The series changed once more, beside an open incident of theirs.
  if (namesake) incident.key += "-" + std::to_string(comparison.row.id);
  incident.opened_at = services.clock.wall_now();
  incident.title = report::what_changed(incident);
  TW_TRY(const auto opened, store.open(incident));
  return bisection::open_bisection(services, comparison, settings, opened);
}

Result<ComparisonRow> store_verdicts(comparison::Services& services, const ComparisonRow& row,
                                     const std::vector<comparison::JudgedSeries>& judged,
                                     const std::string& summary_json) {
  storage::ComparisonStore comparisons(services.database);
  for (const auto& series : judged) {
    auto verdict = series.verdict;
    verdict.comparison = row.id;
    TW_TRY_VOID(comparisons.add_verdict(verdict));
  }
  TW_TRY_VOID(comparisons.set_summary(row.id, summary_json, services.config.detect.confidence));
  return comparisons.advance(row, storage::ComparisonState::judged, services.clock.wall_now());
}

void note_false_alarm(comparison::Services& services, const VerdictRow& verdict) {
  services.progress.log("false alarm: the self-test calls " + to_string(verdict.series) + " " +
                        std::string(to_string(verdict.verdict)) + ": " + verdict.reason);
}

/// "regressed: dlrm cpu-train time +14.4 % [+11.0, +16.1] %".
void note_change(comparison::Services& services, const VerdictRow& verdict) {
  const auto facts = report::effect_of(verdict);
  auto line = std::string(to_string(verdict.verdict)) + ": " + to_string(verdict.series);
  for (const auto& part : {report::change_text(facts), report::interval_text(facts)}) {
    if (!part.empty()) line += " " + part;
  }
  services.progress.log(line);
}

/// "the drill planted +14.0 % in dlrm cpu-train time, which came out regressed: ...".
void note_drill(comparison::Services& services, const Comparison& drill,
                const std::vector<comparison::JudgedSeries>& judged) {
  const auto planted = figures::change(1 + drill.plan.planted_slowdown);
  for (const auto& [verdict, lost] : judged) {
    services.progress.log("the drill planted " + planted + " in " + to_string(verdict.series) +
                          ", which came out " + std::string(to_string(verdict.verdict)) + ": " +
                          verdict.reason);
  }
}

void note_changes(comparison::Services& services, const Comparison& comparison,
                  const std::vector<comparison::JudgedSeries>& judged) {
  const auto& row = comparison.row;
  if (row.purpose == storage::Purpose::drill) return note_drill(services, comparison, judged);
  for (const auto& [verdict, lost] : judged) {
    if (verdict.verdict != Verdict::regressed && verdict.verdict != Verdict::improved) continue;
    const bool is_self_test = row.purpose == storage::Purpose::self_test;
    is_self_test ? note_false_alarm(services, verdict) : note_change(services, verdict);
  }
}

/// A drill is judged by its time alone: what waits keeps no device busy.
std::vector<comparison::JudgedSeries> judged_by(const comparison::Schedule& schedule,
                                                storage::Purpose purpose) {
  auto judged = schedule.judged();
  if (purpose == storage::Purpose::drill) {
    std::erase_if(judged,
                  [](const auto& each) { return each.verdict.series.metric != Metric::time; });
  }
  return judged;
}

}  // namespace

void mark_newly_failing(const std::vector<VerdictRow>& before,
                        std::vector<comparison::JudgedSeries>& judged) {
  for (auto& [now, lost] : judged) {
    if (lost || !is_silent(now.verdict) || now.baseline_value > 0 || now.candidate_value > 0) {
      continue;
    }
    const auto& series = now.series;
    if (is_of_operator(series.benchmark)) continue;  // it may have another name
    lost = std::ranges::any_of(before, [&](const VerdictRow& then) {
      return had_value(then) && is_same_pass(then.series, series);
    });
    if (lost) now.reason = "runs with neither build, and ran in the nightly before: " + now.reason;
  }
}

Result<ComparisonRow> judge_comparison(comparison::Services& services,
                                       const Comparison& comparison) {
  const auto& row = comparison.row;
  TW_TRY(const auto schedule, comparison::replay(services, comparison));
  auto judged = judged_by(schedule, row.purpose);
  TW_TRY_VOID(tracing::clear_moved_operators(services, comparison, judged));
  TW_TRY(const auto before, triage::nightly_before(services, row));
  triage::ComparisonSummary summary;
  if (before) {
    mark_newly_failing(before->verdicts, judged);
    TW_TRY(summary,
           triage::summarise(services, comparison, *before, judged, schedule.settings().common()));
  }
  TW_TRY(summary.is_unconfined, triage::is_unconfined(services, row.id));
  ComparisonRow advanced;
  TW_TRY_VOID(services.database.transact([&]() -> Status {
    TW_TRY(advanced, store_verdicts(services, row, judged, to_json(summary)));
    if (!row.opens_incidents) return {};
    TW_TRY(const auto heard, without_muted(services, judged));
    for (auto& incident : incidents_of(row.id, heard)) {
      // Whether its own incident is still there, a recheck's outcome says.
      if (row.incident && incident.kind == IncidentKind::lost) continue;
      TW_TRY_VOID(open_incident(services, comparison, schedule.settings(), std::move(incident)));
    }
    return triage::file_at_once(services, {advanced, comparison.plan});
  }));
  note_changes(services, comparison, judged);
  TW_TRY_VOID(platform::failpoint("nightly.after_verdict"));
  return advanced;
}

}  // namespace torchwatch::nightly
