#include "torchwatch/exports/exports.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "row_writer.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::exports {
namespace {

using nlohmann::ordered_json;
using report::time_of;
using BuildNames = std::map<storage::Id, std::string>;

constexpr int kPage = 200;
/// Names the build of a row that gives a table without rows its heading.
const BuildNames kNoBuild{{0, ""}};

/// Returns all rows of a store that lists the newest first, the oldest first.
template <typename Row, typename Store>
Result<std::vector<Row>> all_of(Store store) {
  std::vector<Row> rows;
  storage::Id before = INT64_MAX;
  for (bool is_more = true; is_more;) {
    TW_TRY(auto page, store.list(kPage, before));
    is_more = static_cast<int>(page.size()) == kPage;
    if (!page.empty()) before = page.back().id;
    std::ranges::move(page, std::back_inserter(rows));
  }
  std::ranges::reverse(rows);
  return rows;
}

Result<BuildNames> names_of_builds(storage::Database& database) {
  TW_TRY(const auto builds, storage::BuildStore(database).list());
  BuildNames names;
  for (const auto& build : builds) names[build.id] = build.name;
  return names;
}

void add_columns(ordered_json& row, const nlohmann::json& members,
                 std::initializer_list<const char*> columns) {
  for (const auto* column : columns) row[column] = members.at(column);
}

ordered_json row_of(const storage::ComparisonRow& comparison, const storage::VerdictRow& verdict,
                    const BuildNames& builds) {
  ordered_json row{{"comparison", comparison.id},
                   {"purpose", to_string(comparison.purpose)},
                   {"ended_at", time_of(comparison.ended_at)},
                   {"candidate", builds.at(comparison.candidate)},
                   {"baseline", nullptr}};
  if (comparison.baseline) row["baseline"] = builds.at(*comparison.baseline);
  auto facts = report::json_of(verdict);
  const auto& interval = facts["interval"];
  facts["interval_low"] = interval.is_null() ? interval : interval[0];
  facts["interval_high"] = interval.is_null() ? interval : interval[1];
  add_columns(
      row, facts,
      {"workload", "configuration", "variant", "metric", "unit", "verdict", "ratio", "interval_low",
       "interval_high", "baseline_value", "candidate_value", "runs", "reason"});
  return row;
}

ordered_json row_of(storage::Owner owner, const storage::RunRow& run, const BuildNames& builds) {
  const bool is_comparison = owner.kind == storage::OwnerKind::comparison;
  ordered_json row{{"owner", is_comparison ? "comparison" : "bisection"},
                   {"owner_id", owner.id},
                   {"run", run.attempt},
                   {"slot", run.slot},
                   {"build", builds.at(run.build)}};
  add_columns(row, report::json_of(run.benchmark), {"workload", "configuration", "variant"});
  row["pass"] = to_string(run.pass);
  return row;
}

void add_sample(ordered_json& row, std::size_t index, std::int64_t ns) {
  row["sample"] = index;
  row["ns"] = ns;
}

Status write_samples(RowWriter& writer, ExportFormat format, ordered_json row,
                     const RunResult& result) {
  if (format == ExportFormat::json_lines) {
    for (const auto& [metric, value] : result.values) {
      row["values"][std::string(to_string(metric))] = value;
    }
    row["samples_ns"] = result.samples_ns;
    row["device_samples_ns"] = result.device_samples_ns;
    return writer.write(row);
  }
  for (std::size_t i = 0; i < result.samples_ns.size(); ++i) {
    add_sample(row, i, result.samples_ns[i]);
    TW_TRY_VOID(writer.write(row));
  }
  return {};
}

Status write_runs(storage::Database& database, storage::Owner owner, const BuildNames& builds,
                  RowWriter& writer, ExportFormat format) {
  storage::RunStore runs(database);
  TW_TRY(const auto ended, runs.runs_of(owner));
  for (const auto& run : ended) {
    if (run.status != RunStatus::ok) continue;
    TW_TRY(const auto result, runs.result_of(run.attempt));
    TW_TRY_VOID(write_samples(writer, format, row_of(owner, run, builds), result));
  }
  return {};
}

}  // namespace

Status export_verdicts(storage::Database& database, ExportFormat format, std::ostream& out) {
  RowWriter writer(format, out);
  storage::ComparisonStore store(database);
  TW_TRY(const auto builds, names_of_builds(database));
  TW_TRY(const auto comparisons, all_of<storage::ComparisonRow>(store));
  for (const auto& comparison : comparisons) {
    TW_TRY(const auto verdicts, storage::verdicts_of(database, comparison.id));
    for (const auto& verdict : verdicts) {
      TW_TRY_VOID(writer.write(row_of(comparison, verdict, builds)));
    }
  }
  return writer.finish(row_of(storage::ComparisonRow{}, {}, kNoBuild));
}

Status export_samples(storage::Database& database, ExportFormat format, std::ostream& out) {
  RowWriter writer(format, out);
  TW_TRY(const auto builds, names_of_builds(database));
  TW_TRY(const auto comparisons,
         all_of<storage::ComparisonRow>(storage::ComparisonStore(database)));
  for (const auto& row : comparisons) {
    const storage::Owner owner{storage::OwnerKind::comparison, row.id};
    TW_TRY_VOID(write_runs(database, owner, builds, writer, format));
  }
  TW_TRY(const auto bisections, all_of<storage::BisectionRow>(storage::BisectionStore(database)));
  for (const auto& row : bisections) {
    const storage::Owner owner{storage::OwnerKind::bisection, row.id};
    TW_TRY_VOID(write_runs(database, owner, builds, writer, format));
  }
  auto like = row_of(storage::Owner{}, {}, kNoBuild);
  add_sample(like, 0, 0);
  return writer.finish(like);
}

}  // namespace torchwatch::exports
