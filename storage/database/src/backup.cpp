#include "backup.hpp"

#include "file_system.hpp"
#include "query.hpp"
#include "sqlite_errors.hpp"

namespace torchwatch::storage {
namespace {

/// integrity_check alone does not see dangling references.
Status check_copy(const std::filesystem::path& copy, const std::string& vfs) {
  return guarded(copy, [&]() -> Status {
    SQLite::Database opened(copy.string(), SQLite::OPEN_READONLY, 0, vfs);
    const std::string integrity = opened.execAndGet("PRAGMA integrity_check(1)").getString();
    SQLite::Statement dangling(opened, "PRAGMA foreign_key_check");
    if (integrity == "ok" && !dangling.executeStep()) return {};
    return fail(ErrorCode::corrupt,
                "the copy " + copy.string() + " is damaged (" + integrity + "), so the database is",
                "restore an older backup");
  });
}

Status rename_and_sync(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) {
    return fail(ErrorCode::unavailable,
                "backup " + to.string() + " cannot be made: " + error.message());
  }
  return sync_to_disk(to.parent_path());
}

}  // namespace

Status back_up(Connection& connection, const std::filesystem::path& target) {
  const std::filesystem::path partial = target.string() + ".partial";
  std::error_code ignored;  // VACUUM INTO refuses what it cannot overwrite, and says so
  std::filesystem::remove(partial, ignored);
  TW_TRY_VOID(guarded(connection.path, [&]() -> Status {
    execute(connection, "VACUUM INTO ?", partial.string());
    return {};
  }));
  TW_TRY_VOID(check_copy(partial, connection.vfs));
  TW_TRY_VOID(sync_to_disk(partial));
  return rename_and_sync(partial, target);
}

std::filesystem::path backup_before_migration(const std::filesystem::path& database, int version) {
  return database.string() + ".v" + std::to_string(version) + ".backup";
}

}  // namespace torchwatch::storage
