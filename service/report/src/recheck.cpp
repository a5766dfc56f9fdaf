#include "torchwatch/report/recheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::report {
namespace {

using nlohmann::json;
using storage::IncidentRow;
using storage::VerdictRow;

/// How many of the newest are shown: each nightly measures an open incident again.
constexpr int kRechecksShown = 10;

/// What was lost runs again, however slowly. "Unchanged" is also a rest below the threshold: gone
/// is what cannot be half of it any more.
bool is_gone(IncidentKind kind, const storage::IncidentSeriesRow& was, const VerdictRow& now) {
  if (now.verdict == Verdict::regressed) return kind == IncidentKind::lost;
  if (now.verdict != Verdict::unchanged && now.verdict != Verdict::improved) return false;
  if (was.ratio <= 0 || now.ratio <= 0) return true;
  return std::max(now.ratio, now.interval_high) < std::sqrt(was.ratio);
}

bool is_still_there(IncidentKind kind, Verdict verdict) {
  if (kind != IncidentKind::lost) return verdict == Verdict::regressed;
  return verdict == Verdict::failed || verdict == Verdict::unsupported;
}

/// The series of the incident that are worse still, largest first.
std::vector<storage::IncidentSeriesRow> worse_series(const IncidentRow& incident,
                                                     const std::vector<VerdictRow>& all) {
  std::vector<VerdictRow> worse;
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
                           storage::ComparisonRow row) {
  TW_TRY(const auto candidate, storage::BuildStore(database).get(row.candidate));
  TW_TRY(const auto verdicts, storage::verdicts_of(database, row.id));
  auto outcome = is_end(row.state) ? RecheckOutcome::none : RecheckOutcome::due;
  if (!verdicts.empty()) outcome = outcome_for(incident, verdicts);
  return Recheck{.comparison = std::move(row),
                 .candidate = candidate.name,
                 .origin = candidate.origin,
                 .outcome = outcome,
                 .worse = worse_series(incident, verdicts)};
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

RecheckOutcome outcome_for(const IncidentRow& incident, const std::vector<VerdictRow>& verdicts) {
  std::size_t gone = 0;
  bool is_there = false;
  for (const auto& was : incident.series) {
    const auto now = std::ranges::find(verdicts, was.series, &VerdictRow::series);
    if (now == verdicts.end()) continue;
    if (is_gone(incident.kind, was, *now)) ++gone;
    if (is_still_there(incident.kind, now->verdict)) is_there = true;
  }
  if (gone == incident.series.size()) return RecheckOutcome::gone;
  return is_there ? RecheckOutcome::still_there : RecheckOutcome::unclear;
}

Result<std::vector<Recheck>> rechecks_of(storage::Database& database, const IncidentRow& incident) {
  TW_TRY(auto rows, storage::ComparisonStore(database).rechecks_of(incident.id, kRechecksShown));
  std::vector<Recheck> rechecks;
  for (auto& row : rows) {
    TW_TRY(rechecks.emplace_back(), recheck_of(database, incident, std::move(row)));
  }
  return rechecks;
}

std::string recheck_text(const Recheck& recheck) {
  const auto& row = recheck.comparison;
  auto text = recheck.candidate;
  if (row.ended_at > 0) text += " on " + platform::date_and_minute(row.ended_at) + " UTC";
  text += fmt::format(" (comparison {}): {}", row.id, outcome_text(recheck));
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
