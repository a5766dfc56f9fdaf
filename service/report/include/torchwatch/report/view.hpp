#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/access/token_store.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/report/facts.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/storage/study_store.hpp"

namespace torchwatch::storage {
struct RunValue;
}

namespace torchwatch::report {

// The one view of stored rows: the JSON that the command line and the HTTP interface print, and the
// texts that tables and issues show. Values in JSON are in the unit that stands beside them, and
// null where they are not known; times are ISO 8601 in UTC.

/// Makes {"workload", "configuration", "variant"}.
nlohmann::json json_of(const Benchmark&);

/// Makes a benchmark's members, "metric" and "unit".
nlohmann::json json_of(const Series&);

/// Makes {"measured_at", "build": {"id", "name"}, "run": {"id"}, "value", "thinned"}: a value of a
/// series, and the build that it was measured with.
nlohmann::json json_of(const storage::RunValue&, const storage::BuildRow&);

/// Makes a verdict's members: those of its series, "verdict", "ratio" and "interval" (candidate /
/// baseline, as estimated from the pairs of runs), "exact", "baseline_value" and "candidate_value"
/// (medians of the runs), their spreads, "runs", "reason".
nlohmann::json json_of(const storage::VerdictRow&);

/// Makes {"id", "origin", "name", "version", "trunk_commit"}: a build beside what it was compared
/// with.
nlohmann::json build_of_comparison(const storage::BuildRow&);

/// Makes a comparison's members: "baseline" and "candidate" are builds, "result" is `result_word`,
/// "reason" is that of its end, "waits_for" says what it waits for. `at_work`: the comparison that
/// somebody works on. Errors: of storage.
Result<nlohmann::json> json_of(storage::Database&, const storage::ComparisonRow&,
                               std::optional<storage::Id> at_work = {});

/// What a comparison's row names, or is named by; what is not known is empty.
struct NamedByComparison {
  std::optional<storage::BuildRow> candidate = {};
  std::optional<storage::BuildRow> baseline = {};
  std::optional<storage::StudyRow> study = {};  ///< the settings of a study
  std::string result = {};
  std::string waits_for = {};
};

/// The same from what was read already.
nlohmann::json json_of(const storage::ComparisonRow&, const NamedByComparison&);

/// Makes an effect's members: those of its series, "ratio", "interval", "exact", "baseline_value"
/// and "candidate_value".
nlohmann::json json_of(const storage::IncidentSeriesRow&);

/// Makes an incident's members with its effects; "bisection" and "comparison" are ids.
nlohmann::json json_of(const storage::IncidentRow&);

/// Makes a bisection's members; "result" is `result_of`. Leaves the specification out: it holds
/// paths of this machine.
nlohmann::json json_of(const storage::BisectionRow&);

/// Makes what a bisection ended with; null before its end and where it is damaged.
nlohmann::json result_of(const storage::BisectionRow&);

/// Makes a request's members: what was asked, by whom, what came of it, what it waits for. Errors:
/// of storage.
Result<nlohmann::json> json_of(storage::Database&, const storage::RequestRow&);

/// Makes the members of a message that was not delivered; "incident" is null for an alarm's and for
/// what goes to a place of its own, "target" for an issue's.
nlohmann::json json_of(const storage::OutboxRow&);

/// Makes {"by", "reason", "at"}; null without an acceptance.
nlohmann::json json_of(const std::optional<storage::Decision>&);
nlohmann::json json_of(const storage::DecisionRow&);
/// Makes a token's members, without its hash.
nlohmann::json json_of(const storage::TokenRow&);
nlohmann::json json_of(const storage::AuditRow&);

/// Makes a list of the rows' JSON; empty where there are none.
template <typename Row>
nlohmann::json json_list(const std::vector<Row>& rows) {
  auto list = nlohmann::json::array();
  for (const auto& row : rows) list.push_back(json_of(row));
  return list;
}

/// Returns who asked for work: a user's name, or a token's; empty where it is not known.
std::string name_of(const storage::Asker&);

/// Returns the version of this program, "0.1.0".
std::string_view program_version();

/// Parses a row's `..._json`; null if it is empty or damaged.
nlohmann::json embedded(const std::string& text);

/// Formats a time as ISO 8601 in UTC; null for 0.
nlohmann::json time_of(storage::WallMillis);

/// Returns the string; null if it is empty.
nlohmann::json text_or_null(const std::string&);

/// Takes the effect out of a verdict for people. Value, change and interval of a time come from one
/// estimate, that of the pairs of runs: the candidate's value is the baseline's median times the
/// ratio. Those of memory come from the medians of the runs, the interval is their range.
EffectFacts effect_of(const storage::VerdictRow&);
EffectFacts effect_of(const storage::IncidentSeriesRow&);
/// A bisection knows changes, not values: its effect is a ratio or a difference.
EffectFacts effect_of(const bisection::SeriesEffect&);

/// Returns whether all runs of each build state the same bytes of what LibTorch's allocators count:
/// the change then has no interval about it.
bool is_exact(const EffectFacts&);

/// Returns whether the series is exact and moved by 0.1 % or more, so that its figure shows it.
bool moved_exactly(const EffectFacts&);

/// Formats the change: "+15.2 %"; of what moved exactly "exactly +0.7 %"; of memory without a ratio
/// "+4,096 bytes/iteration". Empty if there is none.
std::string change_text(const EffectFacts&);

/// Formats the interval to stand alone: "[+13.1, +17.4] %". Empty if it is not known, for what
/// moved exactly, and for memory that is not given back.
std::string interval_text(const EffectFacts&);

/// Formats the heading of a column of intervals: "99 % interval", by the configured confidence.
std::string interval_heading(double confidence);

/// Formats a benchmark's configuration, with its variant where that is not the default:
/// "cpu-train bf16".
std::string configuration_text(const Benchmark&);

/// Returns candidate - baseline, in the metric's unit.
double difference_of(const EffectFacts&);

/// Returns whether neither build gave a value. Of a leak 0 bytes are one.
bool has_no_value(const EffectFacts&);

/// Returns whether an incident's benchmarks gave no result with either build: then the environment
/// lost them, not the build.
bool is_lost_with_both(IncidentKind, const std::vector<EffectFacts>&);
bool is_lost_with_both(const storage::IncidentRow&);

/// Returns whether the change is one upwards beyond its interval.
bool is_sure_increase(const EffectFacts&);

/// Orders effects for people: other outputs, then leaks, then ratios; larger ones first.
bool is_larger(const EffectFacts& left, const EffectFacts& right);

}  // namespace torchwatch::report
