#include "torchwatch/filing/digest.hpp"

#include "torchwatch/issues/issue.hpp"
#include "torchwatch/issues/notices.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::filing {
namespace {

/// More nightlies than a month has, also where a channel publishes several a day.
constexpr int kNightliesRead = 200;

/// "2026-05".
std::string month_of(storage::WallMillis time) {
  return platform::iso_utc(time).substr(0, 7);
}

/// The month before that of `time`.
std::string month_before(storage::WallMillis time) {
  constexpr storage::WallMillis kDay = 86'400'000;
  const auto month = month_of(time);
  while (month_of(time) == month) time -= kDay;
  return month_of(time);
}

Status add_improvements(storage::Database& database, const storage::ComparisonRow& comparison,
                        std::vector<report::Improvement>& to) {
  TW_TRY(const auto build, storage::BuildStore(database).get(comparison.candidate));
  TW_TRY(const auto verdicts, storage::verdicts_of(database, comparison.id));
  for (const auto& verdict : verdicts) {
    if (verdict.verdict != Verdict::improved) continue;
    to.push_back({build.name, report::effect_of(verdict)});
  }
  return {};
}

/// The improvements of the nightlies that ended in the month, up to `newest`.
Result<std::vector<report::Improvement>> improvements_of(storage::Database& database,
                                                         const std::string& month,
                                                         const storage::ComparisonRow& newest) {
  TW_TRY(const auto rows,
         storage::ComparisonStore(database).nightlies_before(newest.id, kNightliesRead));
  std::vector<report::Improvement> found;
  for (const auto& row : rows) {
    if (row.state != storage::ComparisonState::reported || month_of(row.ended_at) != month) {
      continue;
    }
    TW_TRY_VOID(add_improvements(database, row, found));
  }
  return found;
}

}  // namespace

Status queue_digest(comparison::Services& services, const storage::ComparisonRow& nightly) {
  if (!services.config.github.monthly_digest) return {};
  const auto now = services.clock.wall_now();
  const auto month = month_before(now);
  storage::OutboxRow row;
  row.key = "digest-" + month;
  storage::OutboxStore outbox(services.database);
  TW_TRY(const auto queued, outbox.subject_of(row.key));
  if (!queued.messages.empty()) return {};
  TW_TRY(const auto improvements, improvements_of(services.database, month, nightly));
  if (improvements.empty()) return {};
  row.kind = storage::OutboxKind::digest;
  row.target = "digest/" + std::to_string(now);
  row.title = report::digest_title(improvements.size(), month);
  row.body = report::with_marker(report::digest_body(improvements, month), row.key,
                                 services.random.token());
  return outbox.queue(row);
}

}  // namespace torchwatch::filing
