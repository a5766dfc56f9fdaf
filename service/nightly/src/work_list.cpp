#include "torchwatch/nightly/work_list.hpp"

#include <algorithm>

#include "torchwatch/bisection/early_end.hpp"
#include "torchwatch/bisection/run.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::ComparisonRow;
using storage::ComparisonState;
using storage::Purpose;

Scope scope_of(Purpose purpose) {
  const bool is_requested =
      purpose == Purpose::requested || purpose == Purpose::measurement || purpose == Purpose::study;
  return is_requested ? Scope::requested : Scope::nightlies;
}

/// Returns whether the bisection was still open.
Result<bool> end_bisection(comparison::Services& services, storage::Id id,
                           const std::string& reason) {
  storage::BisectionStore store(services.database);
  TW_TRY(const auto now, store.get(id));
  if (now.state == storage::BisectionState::ended) return false;
  TW_TRY_VOID(bisection::end_early(services, id, reason));
  return true;
}

/// Ends what keeps a comparison from its report: an incident is reported also where its culprit
/// could not be searched for. Returns whether there was anything to end.
Result<bool> end_bisections(comparison::Services& services, const ComparisonRow& row,
                            const std::string& reason) {
  TW_TRY(const auto incidents, storage::IncidentStore(services.database).of_comparison(row.id));
  bool any = false;
  for (const auto& incident : incidents) {
    if (!incident.bisection) continue;
    TW_TRY(const bool was_open, end_bisection(services, *incident.bisection, reason));
    any = any || was_open;
  }
  return any;
}

Status end_comparison(comparison::Services& services, storage::Id id, Failure failure,
                      const std::string& reason) {
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(const auto row, comparisons.get(id));
  if (is_end(row.state)) return {};
  if (row.state == ComparisonState::judged) {
    TW_TRY(const bool continues, end_bisections(services, row, reason));
    if (continues) return {};
  }
  const auto to = failure == Failure::refused ? ComparisonState::refused : ComparisonState::failed;
  const auto ended = comparisons.advance(row, to, services.clock.wall_now(), reason);
  return ended ? Status{} : Status{fail(ended.error())};
}

/// What cannot be read any more is nothing that could be tried again.
bool is_open_item(storage::Database& database, const storage::ItemKey& key) {
  switch (key.kind) {
    case storage::ItemKind::build:
      return true;
    case storage::ItemKind::comparison: {
      const auto row = storage::ComparisonStore(database).get(std::stoll(key.item));
      return row && !is_end(row->state);
    }
    case storage::ItemKind::bisection: {
      const auto row = storage::BisectionStore(database).get(std::stoll(key.item));
      return row && row->state != storage::BisectionState::ended;
    }
    case storage::ItemKind::request: {
      const auto row = storage::RequestStore(database).get(std::stoll(key.item));
      return row && !storage::is_end(row->state);
    }
    case storage::ItemKind::channel:
    case storage::ItemKind::source:
      return false;
  }
  return false;
}

}  // namespace

storage::ItemKey key_of(const ComparisonRow& row) {
  return {storage::ItemKind::comparison, std::to_string(row.id)};
}

storage::ItemKey key_of(const storage::BisectionRow& row) {
  return {storage::ItemKind::bisection, std::to_string(row.id)};
}

Result<Attended> attend_comparison(comparison::Services& services, const ComparisonRow& row,
                                   std::stop_token stop) {
  return attend(services, {.key = key_of(row),
                           .work = [&]() -> Status {
                             const auto ended = carry_out_comparison(services, row, stop);
                             return ended ? Status{} : Status{fail(ended.error())};
                           },
                           .end =
                               [&](Failure failure, const std::string& reason) {
                                 return end_comparison(services, row.id, failure, reason);
                               }});
}

Result<Attended> attend_bisection(comparison::Services& services, const storage::BisectionRow& row,
                                  std::stop_token stop) {
  return attend(services, {.key = key_of(row),
                           .work = [&]() -> Status {
                             const auto ended = bisection::carry_out_bisection(services, row, stop);
                             return ended ? Status{} : Status{fail(ended.error())};
                           },
                           .end = [&](Failure, const std::string& reason) -> Status {
                             TW_TRY_VOID(end_bisection(services, row.id, reason));
                             return {};
                           }});
}

Status end_if_refused(comparison::Services& services, storage::Id id, const Error& error) {
  if (consequence_of(error.code) != Consequence::ends) return {};
  return services.database.transact(
      [&] { return end_comparison(services, id, Failure::refused, error.text()); });
}

Status note_downfall_of(storage::Database& database, const storage::ItemKey& key,
                        storage::WallMillis now) {
  return is_open_item(database, key) ? note_downfall(database, key, now) : Status{};
}

Result<bool> WorkList::may_try(const ComparisonRow& row) const {
  if (tried_.contains(row.id)) return false;
  return retry_ == Retry::now ? true : is_due(services_, key_of(row));
}

Result<std::optional<ComparisonRow>> WorkList::carry_out_next(Scope scope, std::stop_token stop) {
  storage::ComparisonStore comparisons(services_.database);
  TW_TRY(auto unfinished, comparisons.unfinished());
  std::ranges::stable_partition(
      unfinished, [](const ComparisonRow& row) { return row.purpose == Purpose::nightly; });
  for (const auto& row : unfinished) {
    // Its request carries it out, which has the builds of pull requests.
    if (row.purpose == Purpose::pull_request || scope_of(row.purpose) != scope) continue;
    TW_TRY(const bool may, may_try(row));
    if (!may) continue;
    TW_TRY(const auto attended, attend_comparison(services_, row, stop));
    TW_TRY(auto now, comparisons.get(row.id));
    // One whose bisection was ended continues at once, with its report.
    if (attended != Attended::ended || is_end(now.state)) tried_.insert(row.id);
    return now;
  }
  return std::nullopt;
}

}  // namespace torchwatch::nightly
