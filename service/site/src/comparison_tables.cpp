#include <algorithm>
#include <iterator>

#include "torchwatch/evidence/comparison_list.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/runs/trunk_range_store.hpp"
#include "torchwatch/site/parts.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::pages {
namespace {

using evidence::ComparisonInList;
using html::Cell;
using html::Cells;

Result<report::TrunkRange> range_of(const storage::ComparisonRow& row, const View& view) {
  if (!row.baseline) return report::TrunkRange{};
  storage::BuildStore builds(view.sources.database);
  TW_TRY(const auto from, builds.get(*row.baseline));
  TW_TRY(const auto to, builds.get(row.candidate));
  return report::trunk_range_of(from, to, view.sources.count_commits);
}

/// The commits at both ends, "aaaa to bbbb"; empty where they are not known.
Cell cell_of(const report::TrunkRange& range, const View& view) {
  const auto& [from, to, commits] = range;
  if (to.empty() || from.empty()) return "";
  if (from == to) return {short_sha(to), view.to_commit(to)};
  return {short_sha(from) + " to " + short_sha(to), view.to_range(from, to)};
}

/// A number of commits as one of a column; empty where it is not known.
Cell commits_cell(const std::optional<std::int64_t>& commits) {
  if (!commits) return "";
  return {figures::grouped(*commits), static_cast<double>(*commits)};
}

/// A number of series; empty for none.
Cell count_cell(int count) {
  return count == 0 ? Cell("") : Cell(figures::grouped(count), count);
}

/// The columns of what stands beside the verdicts of a comparison.
const std::vector<html::Column> kBesideVerdicts{{"duration", Cells::numbers},
                                                {"benchmarks lost", Cells::numbers},
                                                {"self-test: called changed", Cells::numbers}};

/// The cells of those columns.
std::vector<Cell> beside_verdicts(const ComparisonInList& item, const View& view) {
  std::vector<Cell> cells(kBesideVerdicts.size(), "");
  if (item.seconds) cells[0] = {figures::duration(*item.seconds), *item.seconds};
  if (item.benchmarks_lost) {
    cells[1] = {figures::grouped(*item.benchmarks_lost),
                static_cast<double>(*item.benchmarks_lost)};
  }
  if (item.self_test) {
    const auto& [comparison, tally] = *item.self_test;
    cells[2] = {evidence::false_alarms_text(tally), view.to_comparison(comparison)};
    cells[2].order = evidence::false_alarms_of(tally);
  }
  return cells;
}

/// The builds by the names that the reader may see; the comparison's number where one of them
/// cannot be read.
std::string name_in_list(const ComparisonInList& item, const View& view) {
  const auto is_known =
      item.row && item.named.candidate && (!item.row->baseline || item.named.baseline);
  const auto number = "comparison " + std::to_string(item.id);
  return is_known ? name_of_comparison(*item.row, view).value_or(number) : number;
}

/// The cells before those of `kBesideVerdicts`.
std::vector<Cell> first_cells(const ComparisonInList& item, const View& view) {
  const auto link = view.to_comparison(item.id);
  auto counts = item.verdicts;
  return {{std::to_string(item.id), link},
          {name_in_list(item, view), link},
          cell_of(item.range, view),
          commits_cell(item.range.commits),
          commits_cell(item.can_matter),
          item.row ? to_string(item.row->purpose) : "",
          item.named.result,
          count_cell(counts[Verdict::regressed]),
          count_cell(counts[Verdict::failed]),
          count_cell(counts[Verdict::improved]),
          count_cell(counts[Verdict::inconclusive]),
          count_cell(counts[Verdict::unchanged])};
}

html::Table without_rows(bool with_rest) {
  html::Table table{.columns = {{"id", Cells::numbers},
                                {"builds"},
                                {"trunk commits", Cells::phrases},
                                {"commits", Cells::numbers},
                                {"can matter", Cells::numbers},
                                {"purpose", Cells::words},
                                {"result", Cells::states},
                                {"regressed", Cells::numbers},
                                {"failed", Cells::numbers},
                                {"improved", Cells::numbers},
                                {"inconclusive", Cells::numbers},
                                {"unchanged", Cells::numbers}}};
  if (with_rest) std::ranges::copy(kBesideVerdicts, std::back_inserter(table.columns));
  table.columns.push_back({"started, UTC", Cells::words});
  table.columns.push_back({"remark", Cells::phrases});
  return table;
}

/// What cannot be read of a comparison comes in the place of its remark.
std::string remark_in_list(const ComparisonInList& item, const View& view) {
  if (!item.unread.empty()) return item.unread;
  return shortened(remark_on(*item.row, view).value_or(""));
}

html::Fragment table_of(const std::vector<storage::ListedComparison>& listed, bool with_rest,
                        const View& view) {
  auto table = without_rows(with_rest);
  for (const auto& item : evidence::in_list(view.sources.database, listed,
                                            {.at_work = view.service_now.doing.comparison,
                                             .count_commits = view.sources.count_commits,
                                             .with_rest = with_rest})) {
    auto cells = first_cells(item, view);
    if (with_rest) std::ranges::move(beside_verdicts(item, view), std::back_inserter(cells));
    cells.emplace_back(item.row ? platform::date_and_minute(item.row->created_at) : "");
    cells.emplace_back(remark_in_list(item, view));
    table.rows.push_back(std::move(cells));
  }
  return html::table(std::move(table), "None yet.");
}

}  // namespace

Result<Cell> range_cell(const storage::ComparisonRow& row, const View& view) {
  TW_TRY(const auto range, range_of(row, view));
  auto cell = cell_of(range, view);
  if (!range.commits) return cell;
  TW_TRY(const auto can_matter, storage::TrunkRangeStore(view.sources.database).find(row.id));
  cell.more = "(" + figures::count(static_cast<std::size_t>(*range.commits), "commit");
  if (can_matter && *range.commits > 0)
    cell.more += ", of which " + figures::grouped(*can_matter) + " can matter";
  cell.more += ")";
  return cell;
}

html::Fragment comparison_table(const std::vector<storage::ListedComparison>& comparisons,
                                const View& view) {
  return table_of(comparisons, false, view);
}

html::Fragment comparison_list(const std::vector<storage::ListedComparison>& comparisons,
                               const View& view) {
  return table_of(comparisons, true, view);
}

}  // namespace torchwatch::pages
