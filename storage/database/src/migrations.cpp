#include "migrations.hpp"

#include "copies.hpp"
#include "query.hpp"
#include "sqlite_errors.hpp"

namespace torchwatch::storage {
namespace {

/// "tw" in the file's header: PRAGMA application_id, so that no other program's file is touched.
constexpr int kApplicationId = 0x74770001;

int pragma(Connection& connection, const std::string& name) {
  Query query(connection, "PRAGMA " + name);
  return query.next() ? query.take<int>() : 0;
}

bool holds_tables(Connection& connection) {
  Query query(connection, "SELECT 1 FROM sqlite_schema LIMIT 1");
  return query.next();
}

std::string version_text(Connection& connection, int version) {
  return "database " + connection.path.string() + " has schema version " + std::to_string(version);
}

Error newer(Connection& connection, int version, int ours) {
  const auto backup = backup_before_migration(connection.path, ours);
  std::error_code ignored;
  const bool has_backup = std::filesystem::exists(backup, ignored);
  return {ErrorCode::conflict,
          version_text(connection, version) + "; this torchwatch knows versions up to " +
              std::to_string(ours) + ": run the newer torchwatch that wrote it" +
              (has_backup ? ", or restore " + backup.string() : "")};
}

Status check_owner(Connection& connection) {
  if (pragma(connection, "application_id") == kApplicationId) return {};
  if (!holds_tables(connection)) return {};
  return fail(ErrorCode::invalid,
              connection.path.string() + " is a SQLite database of another program",
              "choose another [storage] path");
}

/// Switches foreign keys off while a migration runs, as SQLite's documentation of ALTER TABLE asks
/// for where a table is made again. The result of the migration is checked as a whole.
class ForeignKeysOff {
 public:
  explicit ForeignKeysOff(SQLite::Database& sqlite) : sqlite_(sqlite) {
    sqlite_.exec("PRAGMA foreign_keys = OFF");
  }
  ~ForeignKeysOff() { sqlite_.tryExec("PRAGMA foreign_keys = ON"); }
  ForeignKeysOff(const ForeignKeysOff&) = delete;
  ForeignKeysOff& operator=(const ForeignKeysOff&) = delete;

 private:
  SQLite::Database& sqlite_;
};

Status check_foreign_keys(Connection& connection) {
  Query dangling(connection, "PRAGMA foreign_key_check");
  if (!dangling.next()) return {};
  return fail(ErrorCode::damaged, "a row of table " + dangling.take<std::string>() +
                                      " refers to a row that does not exist");
}

Status apply(Connection& connection, const SqlFile& migration, int version) {
  auto& sqlite = connection.sqlite;
  const ForeignKeysOff off(sqlite);
  sqlite.exec("BEGIN IMMEDIATE");
  auto applied = guarded(connection.path, [&]() -> Status {
    sqlite.exec(std::string(migration.sql));
    TW_TRY_VOID(check_foreign_keys(connection));
    sqlite.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
    sqlite.exec("PRAGMA user_version = " + std::to_string(version));
    sqlite.exec("COMMIT");
    return {};
  });
  if (applied) return applied;
  sqlite.tryExec("ROLLBACK");
  return fail(applied.error().within("migration " + std::string(migration.name)));
}

}  // namespace

int user_version(Connection& connection) {
  return pragma(connection, "user_version");
}

Status check_version(Connection& connection, std::span<const SqlFile> migrations) {
  TW_TRY_VOID(check_owner(connection));
  const int ours = static_cast<int>(migrations.size());
  const int stored = user_version(connection);
  if (stored > ours) return fail(newer(connection, stored, ours));
  return {};
}

Status migrate(Connection& connection, std::span<const SqlFile> migrations) {
  const int ours = static_cast<int>(migrations.size());
  const int stored = user_version(connection);
  if (stored > 0 && stored < ours) {
    TW_TRY_VOID(
        copy_before_migration(connection, backup_before_migration(connection.path, stored)));
  }
  return migrate_copy(connection, migrations);
}

Status migrate_copy(Connection& connection, std::span<const SqlFile> migrations) {
  const int ours = static_cast<int>(migrations.size());
  for (int version = user_version(connection) + 1; version <= ours; ++version) {
    TW_TRY_VOID(apply(connection, migrations[static_cast<std::size_t>(version - 1)], version));
  }
  return {};
}

Status require_current(Connection& connection, std::span<const SqlFile> migrations) {
  TW_TRY_VOID(check_version(connection, migrations));
  const int ours = static_cast<int>(migrations.size());
  const int stored = user_version(connection);
  if (stored == ours) return {};
  return fail(ErrorCode::conflict, version_text(connection, stored) + "; this needs version " +
                                       std::to_string(ours) +
                                       ": run a command that writes (torchwatch serve) once, which "
                                       "migrates it after a backup");
}

}  // namespace torchwatch::storage
