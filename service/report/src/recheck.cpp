#include "torchwatch/report/recheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "torchwatch/detect/time_verdict.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::report {
namespace {

using nlohmann::json;
using storage::IncidentRow;
using storage::VerdictRow;

/// How many of the newest are shown: each nightly measures an open incident again.
constexpr std::size_t kRechecksShown = 10;
/// How many before a recheck count with it.
constexpr std::size_t kRechecksBefore = 10;

/// Whether what was lost runs again, however slowly or noisily. Where only some runs failed nothing
/// was compared, so there is no ratio.
bool runs_again(const VerdictRow& now) {
  if (now.verdict == Verdict::inconclusive) return now.ratio > 0;
  return now.verdict != Verdict::failed && now.verdict != Verdict::unsupported;
}

/// "Unchanged" is also a rest below the threshold: gone is what cannot be half of it any more. An
/// interval that is not known excludes nothing.
bool is_gone(IncidentKind kind, const storage::IncidentSeriesRow& was, const VerdictRow& now) {
  if (kind == IncidentKind::lost) return runs_again(now);
  if (now.verdict != Verdict::unchanged && now.verdict != Verdict::improved) return false;
  if (was.ratio <= 0 || now.ratio <= 0) return true;
  const double most = detect::half_of_change(was.ratio);
  return now.interval_high > 0 && std::max(now.ratio, now.interval_high) < most;
}

bool is_still_there(IncidentKind kind, Verdict verdict) {
  if (kind != IncidentKind::lost) return verdict == Verdict::regressed;
  return verdict == Verdict::failed || verdict == Verdict::unsupported;
}

/// What one recheck says of a series; `none`: it was not measured.
RecheckOutcome outcome_of_series(IncidentKind kind, const storage::IncidentSeriesRow& was,
                                 const Verdicts& verdicts) {
  const auto now = std::ranges::find(verdicts, was.series, &VerdictRow::series);
  if (now == verdicts.end()) return RecheckOutcome::none;
  if (is_gone(kind, was, *now)) return RecheckOutcome::gone;
  return is_still_there(kind, now->verdict) ? RecheckOutcome::still_there : RecheckOutcome::unclear;
}

/// Whether one of these rechecks, newest first, has shown the series gone, and none since worse.
bool was_gone(IncidentKind kind, const storage::IncidentSeriesRow& was,
              std::span<const Verdicts> before) {
  for (const auto& verdicts : before) {
    const auto outcome = outcome_of_series(kind, was, verdicts);
    if (outcome == RecheckOutcome::gone) return true;
    if (outcome == RecheckOutcome::still_there) return false;
  }
  return false;
}

std::vector<Series> unmeasured_series(const IncidentRow& incident, const Verdicts& verdicts) {
  std::vector<Series> unmeasured;
  for (const auto& was : incident.series) {
    const auto found = std::ranges::find(verdicts, was.series, &VerdictRow::series);
    if (found == verdicts.end()) unmeasured.push_back(was.series);
  }
  return unmeasured;
}

/// The series of the incident that are worse still, largest first.
std::vector<storage::IncidentSeriesRow> worse_series(const IncidentRow& incident,
                                                     const Verdicts& all) {
  Verdicts worse;
  for (const auto& row : incident.series) {
    const auto found = std::ranges::find(all, row.series, &VerdictRow::series);
    if (found != all.end() && found->verdict == Verdict::regressed) worse.push_back(*found);
  }
  std::ranges::stable_sort(worse, [](const auto& left, const auto& right) {
    return is_larger(effect_of(left), effect_of(right));
  });
  std::vector<storage::IncidentSeriesRow> rows;
  for (const auto& verdict : worse) rows.push_back(storage::incident_series(verdict));
  return rows;
}

Result<Recheck> recheck_of(storage::Database& database, const IncidentRow& incident,
                           storage::ComparisonRow row, const Verdicts& verdicts,
                           std::span<const Verdicts> before) {
  TW_TRY(const auto candidate, storage::BuildStore(database).get(row.candidate));
  Recheck recheck{.comparison = std::move(row),
                  .candidate = candidate.name,
                  .origin = candidate.origin,
                  .worse = worse_series(incident, verdicts),
                  .unmeasured = {}};
  if (is_end(recheck.comparison.state)) recheck.outcome = RecheckOutcome::none;
  if (verdicts.empty()) return recheck;
  recheck.outcome = outcome_for(incident, verdicts, before);
  recheck.unmeasured = unmeasured_series(incident, verdicts);
  return recheck;
}

/// How many of the rechecks, newest first, count with a newer one: those since a comparison found
/// the incident again, and since somebody opened it again.
Result<std::size_t> counting_of(storage::Database& database, const IncidentRow& incident,
                                const std::vector<storage::ComparisonRow>& rechecks) {
  TW_TRY(const auto found_again, storage::IncidentStore(database).recurrences_of(incident.id));
  const storage::Id since = found_again.empty() ? 0 : found_again.back();
  storage::WallMillis reopened_at = 0;
  for (const auto& [kind, decision] : incident.decisions) {
    if (kind == storage::DecisionKind::reopened) reopened_at = decision.at;
  }
  const auto end = std::ranges::find_if(rechecks, [&](const storage::ComparisonRow& row) {
    return row.id <= since || row.created_at < reopened_at;
  });
  return static_cast<std::size_t>(end - rechecks.begin());
}

std::string outcome_text(const Recheck& recheck) {
  switch (recheck.outcome) {
    case RecheckOutcome::gone:
      return "gone";
    case RecheckOutcome::still_there:
      return "still there";
    case RecheckOutcome::unclear:
      return "not found again, and not surely gone";
    case RecheckOutcome::due:
      return "not measured yet";
    case RecheckOutcome::none:
      break;
  }
  const auto& row = recheck.comparison;
  const auto reason = row.reason.empty() ? "" : ": " + row.reason;
  return "no result, " + std::string(to_string(row.state)) + reason;
}

}  // namespace

std::string unmeasured_text(const Recheck& recheck) {
  if (recheck.unmeasured.empty()) return "";
  const auto more = recheck.unmeasured.size() - 1;
  const auto text = ", without " + to_string(recheck.unmeasured.front());
  return (more == 0 ? text : text + fmt::format(" and {} more", more)) + ", which had no result";
}

RecheckOutcome outcome_for(const IncidentRow& incident, const Verdicts& verdicts,
                           std::span<const Verdicts> before) {
  std::size_t measured = 0;
  std::size_t gone = 0;
  bool is_there = false;
  for (const auto& was : incident.series) {
    const auto outcome = outcome_of_series(incident.kind, was, verdicts);
    if (outcome == RecheckOutcome::none) continue;
    ++measured;
    if (outcome == RecheckOutcome::still_there) is_there = true;
    if (outcome == RecheckOutcome::gone) ++gone;
    if (outcome == RecheckOutcome::unclear && was_gone(incident.kind, was, before)) ++gone;
  }
  if (measured > 0 && gone == measured) return RecheckOutcome::gone;
  return is_there ? RecheckOutcome::still_there : RecheckOutcome::unclear;
}

Result<std::vector<Recheck>> rechecks_of(storage::Database& database, const IncidentRow& incident) {
  constexpr auto kRead = static_cast<int>(kRechecksShown + kRechecksBefore);
  TW_TRY(auto rows, storage::ComparisonStore(database).rechecks_of(incident.id, kRead));
  std::vector<Verdicts> verdicts;
  for (const auto& row : rows) {
    TW_TRY(verdicts.emplace_back(), storage::verdicts_of(database, row.id));
  }
  TW_TRY(const auto counting, counting_of(database, incident, rows));
  std::vector<Recheck> rechecks;
  for (std::size_t i = 0; i < std::min(rows.size(), kRechecksShown); ++i) {
    const auto before = std::span<const Verdicts>(verdicts).first(std::max(counting, i + 1));
    TW_TRY(rechecks.emplace_back(),
           recheck_of(database, incident, std::move(rows[i]), verdicts[i], before.subspan(i + 1)));
  }
  return rechecks;
}

std::string recheck_text(const Recheck& recheck) {
  const auto& row = recheck.comparison;
  auto text = recheck.candidate;
  if (row.ended_at > 0) text += " on " + platform::date_and_minute(row.ended_at) + " UTC";
  text += fmt::format(" (comparison {}): {}", row.id, outcome_text(recheck));
  text += unmeasured_text(recheck);
  if (recheck.worse.empty()) return text;
  const auto effect = effect_of(recheck.worse.front());
  text += fmt::format(", {} {}", to_string(effect.series), change_text(effect));
  const auto more = recheck.worse.size() - 1;
  return more == 0 ? text : text + fmt::format(" and {} more", more);
}

json json_of(const Recheck& recheck) {
  const auto& row = recheck.comparison;
  return {{"comparison", row.id},
          {"candidate", text_or_null(recheck.candidate)},
          {"outcome", spelling(recheck.outcome)},
          {"effects", json_list(recheck.worse)},
          {"reason", text_or_null(row.reason)},
          {"ended_at", time_of(row.ended_at)}};
}

}  // namespace torchwatch::report
