#include "known_changes.hpp"

#include <algorithm>

#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::ComparisonRow;
using storage::IncidentRow;
using storage::IncidentSeriesRow;

/// The places of a comparison's builds in the order of the channel.
struct Span {
  std::int64_t baseline = 0;
  std::int64_t candidate = 0;

  /// Builds beside the channel have no place.
  [[nodiscard]] bool is_known() const { return baseline > 0 && candidate > 0; }
};

Result<Span> span_of(comparison::Services& services, const ComparisonRow& comparison) {
  if (!comparison.baseline) return Span{};
  storage::BuildStore builds(services.database);
  TW_TRY(const auto baseline, builds.get(*comparison.baseline));
  TW_TRY(const auto candidate, builds.get(comparison.candidate));
  return Span{baseline.place, candidate.place};
}

bool overlap(const Span& one, const Span& other) {
  if (!one.is_known() || !other.is_known()) return true;
  return one.baseline < other.candidate && other.baseline < one.candidate;
}

bool spans(const Span& outer, const Span& inner) {
  return outer.is_known() && inner.is_known() && outer.baseline <= inner.baseline &&
         inner.candidate <= outer.candidate;
}

bool has(const IncidentRow& incident, const IncidentSeriesRow& row) {
  return std::ranges::find(incident.series, row.series, &IncidentSeriesRow::series) !=
         incident.series.end();
}

}  // namespace

Result<KnownChanges> known_changes(comparison::Services& services, const ComparisonRow& comparison,
                                   const IncidentRow& found) {
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(const auto unclosed, storage::IncidentStore(services.database).unclosed());
  TW_TRY(const auto span, span_of(services, comparison));
  KnownChanges known{{}, found.series};
  for (const auto& incident : unclosed) {
    const auto is_of = [&](const IncidentSeriesRow& row) { return has(incident, row); };
    if (incident.kind != found.kind || !std::ranges::any_of(found.series, is_of)) continue;
    TW_TRY(const auto found_by, comparisons.get(incident.comparison));
    TW_TRY(const auto incident_span, span_of(services, found_by));
    if (found.kind != IncidentKind::result && !overlap(span, incident_span)) continue;
    known.incidents.push_back(incident.id);
    std::erase_if(known.rest, is_of);
    if (spans(incident_span, span)) known.rest.clear();
  }
  return known;
}

}  // namespace torchwatch::nightly
