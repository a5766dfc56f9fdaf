#include "copies.hpp"

#include <SQLiteCpp/Backup.h>
#include <sqlite3.h>

#include "file_system.hpp"
#include "invariants.hpp"
#include "migrations.hpp"
#include "query.hpp"
#include "sqlite_errors.hpp"
#include "torchwatch/database/backup.hpp"

// Copies of a whole database: backups of a live file, and their return.

namespace torchwatch::storage {
namespace {

namespace fs = std::filesystem;

void remove_database(const fs::path& path) {
  std::error_code ignored;  // what cannot be removed is refused by SQLite when it is made
  for (const char* part : {"", "-wal", "-shm", "-journal"})
    fs::remove(path.string() + part, ignored);
}

/// Removes an unfinished copy unless it was kept.
class PartialFile {
 public:
  explicit PartialFile(fs::path path) : path_(std::move(path)) { remove_database(path_); }
  ~PartialFile() { remove_database(path_); }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// One step, so that the copy is of one moment whatever a writer does meanwhile.
Status copy_pages(SQLite::Database& from, SQLite::Database& to, const fs::path& target) {
  SQLite::Backup copy(to, from);
  if (copy.executeStep(-1) == SQLITE_DONE) return {};
  return fail(ErrorCode::unavailable,
              "the database is busy and could not be copied to " + target.string() + ": try again");
}

Status check_rules(Connection& copy, const fs::path& origin) {
  TW_TRY(const auto breaches, broken_invariants(copy));
  if (breaches.empty()) return {};
  const auto& first = breaches.front();
  return fail(ErrorCode::corrupt,
              origin.string() + " breaks " + std::to_string(breaches.size()) + " rules, first " +
                  first.invariant + ": " + first.rows,
              "use an older backup");
}

/// integrity_check alone does not see dangling references.
Status check_pages(const fs::path& copy, const std::string& vfs) {
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

/// Makes `target` a checked copy in one file, without a log beside it, with the mode of `like`:
/// before anything is in it.
Status make_copy(Connection& from, const fs::path& origin, const fs::path& target,
                 const fs::path& like) {
  auto made = guarded(target, [&]() -> Status {
    const auto copy = connect({.path = target, .vfs = from.vfs}, target, WriterLock());
    TW_TRY_VOID(take_mode(target, like));
    TW_TRY_VOID(copy_pages(from.sqlite, copy->sqlite, target));
    copy->sqlite.exec("PRAGMA journal_mode = DELETE");
    TW_TRY_VOID(migrate_copy(*copy, embedded_migrations()));
    return check_rules(*copy, origin);
  });
  if (made || made.error().code != ErrorCode::damaged) return made;
  // The copy is new: what is damaged in it came from there.
  return fail(ErrorCode::damaged, "database " + origin.string() + " is damaged: it is not copied",
              "restore an older backup");
}

Status rename_and_sync(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) {
    return fail(ErrorCode::unavailable, to.string() + " cannot be made: " + error.message());
  }
  return sync_to_disk(to.parent_path());
}

Status require_ours(Connection& source) {
  TW_TRY_VOID(check_version(source, embedded_migrations()));
  if (user_version(source) > 0) return {};
  return fail(ErrorCode::invalid, source.path.string() + " is not a database of torchwatch");
}

Status require_backup(const fs::path& backup, const fs::path& database) {
  std::error_code error;
  if (!fs::is_regular_file(backup, error)) {
    return fail(ErrorCode::not_found, "there is no backup " + backup.string());
  }
  if (!fs::equivalent(backup, database, error)) return {};
  return fail(ErrorCode::invalid, backup.string() + " is the database itself, not a backup of it");
}

/// Brings the log's content into the file, where that is possible: a damaged file keeps its log.
void empty_log(const fs::path& database) {
  const auto emptied = guarded(database, [&]() -> Status {
    SQLite::Database opened(database.string(), SQLite::OPEN_READWRITE);
    opened.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return {};
  });
  if (emptied) return;
}

fs::path free_name(const fs::path& database) {
  for (int number = 1;; ++number) {
    auto name = fs::path(database.string() + ".replaced-" + std::to_string(number));
    if (!fs::exists(name)) return name;
  }
}

/// Gives the file a second name, so that there is a database at every moment. Its log must not
/// stay: SQLite would play it into the backup.
Result<fs::path> keep(const fs::path& database) {
  if (!fs::exists(database)) return fs::path();
  empty_log(database);
  auto kept = free_name(database);
  std::error_code error;
  fs::create_hard_link(database, kept, error);
  if (!error && fs::exists(log_of(database))) fs::rename(log_of(database), log_of(kept), error);
  if (!error) return kept;
  return fail(ErrorCode::unavailable,
              "the present database cannot be kept as " + kept.string() + ": " + error.message());
}

}  // namespace

Status back_up(Database& database, const fs::path& target) {
  auto& connection = database.connection();
  if (fs::exists(target)) {
    return fail(ErrorCode::invalid,
                target.string() + " exists already: choose another name, or remove it");
  }
  const std::scoped_lock lock(connection.mutex);
  const PartialFile partial(target.string() + ".partial");
  TW_TRY_VOID(make_copy(connection, connection.path, partial.path(), connection.path));
  TW_TRY_VOID(sync_to_disk(partial.path()));
  return rename_and_sync(partial.path(), fs::absolute(target));
}

Status copy_before_migration(Connection& connection, const fs::path& target) {
  const PartialFile partial(target.string() + ".partial");
  TW_TRY_VOID(guarded(connection.path, [&]() -> Status {
    execute(connection, "VACUUM INTO ?", partial.path().string());
    return {};
  }));
  TW_TRY_VOID(take_mode(partial.path(), connection.path));
  TW_TRY_VOID(check_pages(partial.path(), connection.vfs));
  TW_TRY_VOID(sync_to_disk(partial.path()));
  return rename_and_sync(partial.path(), target);
}

fs::path backup_before_migration(const fs::path& database, int version) {
  return database.string() + ".v" + std::to_string(version) + ".backup";
}

Result<fs::path> restore(const fs::path& backup, const fs::path& database) {
  const auto target = true_path(database);
  TW_TRY_VOID(require_backup(backup, target));
  TW_TRY_VOID(prepare_folder_of(target));
  TW_TRY(const auto lock, WriterLock::acquire(target));
  // Who works on the database must still be able to where it is root who restores.
  const auto like = fs::exists(target) ? target : target.parent_path();
  TW_TRY_VOID(take_owner(WriterLock::file_of(target), like));
  const PartialFile partial(target.string() + ".restoring");
  const auto copied = guarded(backup, [&]() -> Status {
    const auto source = connect({.path = backup, .read_only = true}, backup, WriterLock());
    TW_TRY_VOID(require_ours(*source));
    return make_copy(*source, backup, partial.path(), like);
  });
  if (!copied && copied.error().code == ErrorCode::damaged) {
    return fail(ErrorCode::invalid,
                backup.string() + " is not a backup of torchwatch, or it is damaged",
                "name another file");
  }
  TW_TRY_VOID(copied);
  TW_TRY_VOID(take_owner(partial.path(), like));
  TW_TRY_VOID(sync_to_disk(partial.path()));
  TW_TRY(auto kept, keep(target));
  std::error_code ignored;  // what an earlier writer left of a file that is gone
  for (const char* part : {"-wal", "-shm"}) fs::remove(target.string() + part, ignored);
  TW_TRY_VOID(rename_and_sync(partial.path(), target));
  return kept;
}

}  // namespace torchwatch::storage
