#include "statuses.hpp"

#include <nlohmann/json.hpp>

#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::notify {
namespace {

using nlohmann::json;
using storage::ComparisonRow;
using storage::ComparisonState;

constexpr const char* kContext = "torchwatch/nightly";
constexpr std::size_t kDescriptionMax = 140;  ///< GitHub's limit
constexpr std::size_t kRowsMax = 50;

/// What is said of a nightly's commit.
struct Mark {
  std::string state;       ///< of a status
  std::string conclusion;  ///< of a check run; empty: it has not ended
  std::string sentence;
};

Result<report::SortedVerdicts> verdicts_of(const NoticeParts& parts, storage::Id comparison) {
  TW_TRY(const auto verdicts, storage::verdicts_of(parts.database, comparison));
  TW_TRY(const auto incidents, storage::IncidentStore(parts.database).of_comparison(comparison));
  return report::sorted(verdicts, incidents);
}

/// Only what was confirmed is a failure; what was lost is one, too: it ran the night before.
Mark mark_of(const ComparisonRow& row, const report::SortedVerdicts& sorted) {
  switch (row.state) {
    case ComparisonState::reported:
      if (!row.reason.empty()) return {"success", "success", row.reason};
      if (sorted.regressed.empty() && sorted.lost.empty()) {
        return {"success", "success", report::outcome_text(sorted)};
      }
      return {"failure", "failure", report::outcome_text(sorted)};
    case ComparisonState::accepted:
      return {"success", "neutral", "there is no older nightly to compare it with"};
    case ComparisonState::refused:
    case ComparisonState::failed:
      return {"error", "neutral", "this nightly could not be compared"};
    case ComparisonState::cancelled:
      return {"error", "cancelled", "the comparison was cancelled"};
    default:
      return {"pending", "", "the nightly is being compared"};
  }
}

std::string summary_of(const Mark& mark, const report::SortedVerdicts& sorted) {
  std::vector<std::vector<std::string>> rows;
  for (const auto* list : {&sorted.regressed, &sorted.lost, &sorted.improved}) {
    for (const auto& verdict : *list) {
      const auto effect = report::effect_of(verdict);
      rows.push_back({report::code_cell(to_string(verdict.series)),
                      std::string(to_string(verdict.verdict)), report::change_text(effect),
                      report::interval_text(effect)});
    }
  }
  const auto text = mark.sentence + ".\n";
  if (rows.empty()) return text;
  return text + "\n" +
         report::table({"series", "verdict", "change", "interval"}, rows, kRowsMax, 2);
}

storage::OutboxRow status_row(const ComparisonRow& row, const std::string& commit, const Mark& mark,
                              const std::string& page) {
  json body{{"state", mark.state},
            {"context", kContext},
            {"description", report::clean(mark.sentence, kDescriptionMax)}};
  if (!page.empty()) body["target_url"] = page;
  storage::OutboxRow message;
  message.key = "status-" + std::to_string(row.id) + "-" + std::to_string(row.version);
  message.kind = storage::OutboxKind::status;
  message.target = "commit/" + commit;
  message.title = kContext;
  message.body = body.dump();
  return message;
}

storage::OutboxRow check_row(const ComparisonRow& row, const std::string& commit, const Mark& mark,
                             const std::string& page, const std::string& summary) {
  json body{
      {"name", kContext},
      {"head_sha", commit},
      {"external_id", "comparison-" + std::to_string(row.id)},
      {"status", mark.conclusion.empty() ? "in_progress" : "completed"},
      {"output", {{"title", report::clean(mark.sentence, kDescriptionMax)}, {"summary", summary}}}};
  if (!mark.conclusion.empty()) body["conclusion"] = mark.conclusion;
  if (!page.empty()) body["details_url"] = page;
  storage::OutboxRow message;
  message.key = "check-" + std::to_string(row.id) + "-" + std::to_string(row.version);
  message.kind = storage::OutboxKind::check;
  message.target = "commit/" + commit;
  message.title = kContext;
  message.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  return message;
}

/// A stage in between changes nothing that a status says.
bool is_worth_a_mark(ComparisonState state) {
  return state == ComparisonState::ready || is_end(state);
}

}  // namespace

Result<std::vector<storage::OutboxRow>> marks_of(const NoticeParts& parts,
                                                 const storage::EventRow& event) {
  std::vector<storage::OutboxRow> messages;
  if (event.kind != "comparison") return messages;
  TW_TRY(const auto row, storage::ComparisonStore(parts.database).get(std::stoll(event.item)));
  const bool is_newest = to_string(row.state) == event.state;
  if (row.purpose != storage::Purpose::nightly || !is_newest || !is_worth_a_mark(row.state)) {
    return messages;
  }
  TW_TRY(const auto build, storage::BuildStore(parts.database).get(row.candidate));
  if (!is_commit(build.trunk_commit)) return messages;
  TW_TRY(const auto sorted, verdicts_of(parts, row.id));
  const auto mark = mark_of(row, sorted);
  const auto page = page_of_comparison(parts.config, row.id);
  messages.push_back(status_row(row, build.trunk_commit, mark, page));
  if (parts.config.github.app_id == 0) return messages;
  messages.push_back(check_row(row, build.trunk_commit, mark, page, summary_of(mark, sorted)));
  return messages;
}

}  // namespace torchwatch::notify
