#include "torchwatch/storage/setback_store.hpp"

#include "query.hpp"
#include "setbacks.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT kind, item, tries, setbacks, since, not_before, error FROM setback ";

SetbackRow row_of(Query& row) {
  const auto kind = row.take<ItemKind>();
  return SetbackRow{.key = {kind, row.take<std::string>()},
                    .tries = row.take<int>(),
                    .setbacks = row.take<int>(),
                    .since = row.take<WallMillis>(),
                    .not_before = row.take<WallMillis>(),
                    .error = row.take<std::string>()};
}

void clear_setback(Connection& connection, const ItemKey& key) {
  execute(connection, "DELETE FROM setback WHERE kind = ? AND item = ?", key.kind, key.item);
}

}  // namespace

void forget_setback(Connection& connection, ItemKind kind, Id item) {
  clear_setback(connection, {kind, std::to_string(item)});
}

void forget_builds_without_need(Connection& connection) {
  execute(connection,
          "DELETE FROM setback WHERE kind = 'build' "
          "AND item IN (SELECT name FROM build WHERE state = 'ready') "
          "AND item NOT IN (SELECT name FROM comparison JOIN build "
          "ON build.id IN (candidate_id, baseline_id) WHERE ended_at IS NULL)");
}

void forget_setbacks_of_builds(Connection& connection, Id build, std::optional<Id> other) {
  execute(connection,
          "DELETE FROM setback WHERE kind = 'build' "
          "AND item IN (SELECT name FROM build WHERE id IN (?, ?))",
          build, other);
}

Result<std::optional<SetbackRow>> SetbackStore::find(const ItemKey& key) {
  return read(database_, [&](Connection& connection) {
    return first_row(Query(connection, kSelect + "WHERE kind = ? AND item = ?", key.kind, key.item),
                     row_of);
  });
}

Status SetbackStore::record(const SetbackRow& row) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection,
            "INSERT INTO setback (kind, item, tries, setbacks, since, not_before, error) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, item) DO UPDATE SET "
            "tries = excluded.tries, setbacks = excluded.setbacks, since = excluded.since, "
            "not_before = excluded.not_before, error = excluded.error",
            row.key.kind, row.key.item, row.tries, row.setbacks, row.since, row.not_before,
            row.error);
    return {};
  });
}

Status SetbackStore::clear(const ItemKey& key) {
  return write(database_, [&](Connection& connection) -> Status {
    clear_setback(connection, key);
    return {};
  });
}

Result<std::vector<SetbackRow>> SetbackStore::list() {
  return read(database_, [](Connection& connection) {
    return all_rows(Query(connection, kSelect + "ORDER BY since, kind, item"), row_of);
  });
}

}  // namespace torchwatch::storage
