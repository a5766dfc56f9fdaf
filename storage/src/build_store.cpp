#include "torchwatch/storage/build_store.hpp"

#include "query.hpp"
#include "state_folder.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT id, origin, name, version, embedded_commit, trunk_commit, content_hash, folder, state, "
    "reason, unusable, fingerprint, place FROM build ";

BuildRow row_of(Query& row) {
  return BuildRow{.id = row.take<Id>(),
                  .origin = row.take<BuildOrigin>(),
                  .name = row.take<std::string>(),
                  .version = row.take<std::string>(),
                  .embedded_commit = row.take<std::string>(),
                  .trunk_commit = row.take<std::string>(),
                  .content_hash = row.take<std::string>(),
                  .folder = row.take<std::string>(),
                  .state = row.take<BuildState>(),
                  .reason = row.take<std::string>(),
                  .unusable = row.take<std::string>(),
                  .fingerprint = row.take<std::string>(),
                  .place = row.take<std::int64_t>()};
}

BuildRow located(const Connection& connection, BuildRow row) {
  row.folder = path_of(connection, row.folder);
  return row;
}

Result<BuildRow> build_of(Connection& connection, Id id) {
  TW_TRY(auto row, one_row(Query(connection, kSelect + "WHERE id = ?", id), row_of,
                           "build " + std::to_string(id)));
  return located(connection, std::move(row));
}

/// Finds the newest build of that name; a re-published file has a newer row.
Result<std::optional<BuildRow>> newest(Connection& connection, BuildOrigin origin,
                                       const std::string& name) {
  TW_TRY(auto row,
         first_row(
             Query(connection, kSelect + "WHERE origin = ? AND name = ? ORDER BY id DESC LIMIT 1",
                   origin, name),
             row_of));
  if (row) row = located(connection, *std::move(row));
  return row;
}

/// Finds the row of a tree: the one with its content, else the one discovered or rejected. Returns
/// nothing where the name is ready with other content.
Result<std::optional<Id>> row_for_content(Connection& connection, const BuildRow& tree) {
  Query same(connection, "SELECT id FROM build WHERE origin = ? AND name = ? AND content_hash = ?",
             tree.origin, tree.name, tree.content_hash);
  if (same.next()) return same.take<Id>();
  TW_TRY(const auto stored, build_of(connection, tree.id));
  if (stored.state == BuildState::ready) return std::nullopt;
  return stored.id;
}

Id insert_discovered(Connection& connection, BuildOrigin origin, const std::string& name,
                     const std::string& content_hash) {
  execute(connection, "INSERT INTO build (origin, name, content_hash, state) VALUES (?, ?, ?, ?)",
          origin, name, content_hash, BuildState::discovered);
  return last_id(connection);
}

}  // namespace

Result<BuildRow> BuildStore::discover(BuildOrigin origin, const std::string& name) {
  return write(database_, [&](Connection& connection) -> Result<BuildRow> {
    TW_TRY(auto known, newest(connection, origin, name));
    if (known) return *std::move(known);
    return build_of(connection, insert_discovered(connection, origin, name, ""));
  });
}

Result<BuildRow> BuildStore::mark_ready(const BuildRow& tree) {
  return write(database_, [&](Connection& connection) -> Result<BuildRow> {
    TW_TRY(const auto existing, row_for_content(connection, tree));
    const Id id = existing
                      ? *existing
                      : insert_discovered(connection, tree.origin, tree.name, tree.content_hash);
    execute(connection,
            "UPDATE build SET version = ?, embedded_commit = ?, trunk_commit = ?, "
            "content_hash = ?, folder = ?, state = ?, reason = '', fingerprint = ? WHERE id = ?",
            tree.version, tree.embedded_commit, tree.trunk_commit, tree.content_hash,
            stored_path(connection, tree.folder), BuildState::ready, tree.fingerprint, id);
    // It was published again as it was.
    if (id != tree.id) {
      execute(connection, "DELETE FROM build WHERE id = ? AND state <> ?", tree.id,
              BuildState::ready);
    }
    return build_of(connection, id);
  });
}

Result<BuildRow> BuildStore::replace(const BuildRow& build) {
  return write(database_, [&](Connection& connection) -> Result<BuildRow> {
    return build_of(connection, insert_discovered(connection, build.origin, build.name, ""));
  });
}

Result<BuildRow> BuildStore::reject(Id id, const std::string& reason,
                                    const std::string& fingerprint) {
  return write(database_, [&](Connection& connection) -> Result<BuildRow> {
    const int changed = execute(
        connection,
        "UPDATE build SET state = ?, reason = ?, fingerprint = ? WHERE id = ? AND state <> ?",
        BuildState::rejected, reason, fingerprint, id, BuildState::ready);
    TW_TRY(auto row, build_of(connection, id));
    if (changed == 1) return row;
    return fail(ErrorCode::conflict, "build " + row.name + " is ready and cannot be rejected: " +
                                         "a damaged tree is a new content hash");
  });
}

Status BuildStore::set_place(Id id, std::int64_t place) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE build SET place = ? WHERE id = ?", place, id);
    return {};
  });
}

Status BuildStore::set_unusable(Id id, const std::string& reason) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE build SET unusable = ? WHERE id = ?", reason, id);
    return {};
  });
}

Result<BuildRow> BuildStore::get(Id id) {
  return read(database_, [&](Connection& connection) { return build_of(connection, id); });
}

Result<std::vector<BuildRow>> BuildStore::list() {
  return read(database_, [](Connection& connection) -> Result<std::vector<BuildRow>> {
    TW_TRY(auto rows, all_rows(Query(connection, kSelect + "ORDER BY id"), row_of));
    for (auto& row : rows) row = located(connection, std::move(row));
    return rows;
  });
}

}  // namespace torchwatch::storage
