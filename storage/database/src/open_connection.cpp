#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>

#include "connection.hpp"
#include "migrations.hpp"
#include "query.hpp"
#include "sqlite_errors.hpp"
#include "state_folder.hpp"
#include "torchwatch/database/newer_program.hpp"
#include "torchwatch/digest/sha256.hpp"

namespace torchwatch::storage {
namespace {

Status require_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return {};
  return fail(ErrorCode::not_found, "there is no database " + path.string() + " yet",
              "run torchwatch serve or nightly first, or correct [storage] path");
}

Status require_no_folder(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {};
  return fail(ErrorCode::invalid, "[storage] path " + path.string() + " is a folder",
              "name the database's file: " + (path / "torchwatch.sqlite").string());
}

/// Adds sha256(data) to SQL, for the invariants.
void add_sha256(SQLite::Database& sqlite) {
  const auto function = [](sqlite3_context* context, int, sqlite3_value** arguments) {
    const auto* bytes = static_cast<const char*>(sqlite3_value_blob(arguments[0]));
    const auto size = static_cast<std::size_t>(sqlite3_value_bytes(arguments[0]));
    const auto digest = digest::sha256_hex({bytes, bytes == nullptr ? 0 : size});
    sqlite3_result_text(context, digest.data(), static_cast<int>(digest.size()), SQLITE_TRANSIENT);
  };
  sqlite.createFunction("sha256", 1, true, nullptr, function, nullptr, nullptr, nullptr);
}

void apply_settings(SQLite::Database& sqlite) {
  sqlite.exec("PRAGMA foreign_keys = ON");
  sqlite.exec("PRAGMA trusted_schema = OFF");
  sqlite.exec("PRAGMA cell_size_check = ON");
  add_sha256(sqlite);
}

/// EXTRA until the file is in WAL mode: otherwise the journal of the switch itself can come back
/// after a power cut, where the removal of a directory entry is not ordered by a later fsync.
Status switch_to_wal(Connection& connection) {
  auto& sqlite = connection.sqlite;
  sqlite.exec("PRAGMA synchronous = EXTRA");
  const std::string mode = sqlite.execAndGet("PRAGMA journal_mode = WAL").getString();
  if (mode != "wal") {
    return fail(ErrorCode::unavailable,
                "database " + connection.path.string() +
                    " cannot be switched to WAL mode (it stays in " + mode + ")",
                "choose a [storage] path on a local disk");
  }
  sqlite.exec("PRAGMA synchronous = FULL");
  sqlite.exec("PRAGMA journal_size_limit = 67108864");
  return {};
}

void raise_fence(Connection& connection) {
  execute(connection, "UPDATE writer SET fence = fence + 1, holder = ?", name_of_this_process());
  Query query(connection, "SELECT fence FROM writer");
  if (query.next()) connection.fence = query.take<std::int64_t>();
}

void note_files(Connection& connection) {
  connection.file = identity_of(connection.path);
  connection.log = identity_of(log_of(connection.path));
}

Status ready_for_writing(Connection& connection) {
  TW_TRY_VOID(check_version(connection, embedded_migrations()));
  TW_TRY_VOID(switch_to_wal(connection));
  TW_TRY_VOID(migrate(connection, embedded_migrations()));
  make_paths_relative(connection);
  raise_fence(connection);
  note_files(connection);
  return {};
}

/// Takes nothing from the process that works on the file, which may end, and another begin.
Status ready_for_changes(Connection& connection) {
  TW_TRY_VOID(require_current(connection, embedded_migrations()));
  connection.sqlite.exec("PRAGMA synchronous = FULL");
  note_files(connection);
  return {};
}

Status ready_for_reading(Connection& connection) {
  connection.sqlite.exec("PRAGMA query_only = ON");
  return require_current(connection, embedded_migrations());
}

Result<std::unique_ptr<Connection>> open_without_lock(const OpenOptions& options,
                                                      const std::filesystem::path& path) {
  TW_TRY_VOID(require_file(path));
  auto connection = connect(options, path, WriterLock());
  TW_TRY_VOID(options.read_only ? ready_for_reading(*connection) : ready_for_changes(*connection));
  connection->version = user_version(*connection);
  return connection;
}

Result<std::unique_ptr<Connection>> open_writer(const OpenOptions& options,
                                                const std::filesystem::path& path) {
  TW_TRY_VOID(prepare_folder_of(path));
  TW_TRY(auto lock, WriterLock::acquire(path));
  auto connection = connect(options, path, std::move(lock));
  TW_TRY_VOID(ready_for_writing(*connection));
  connection->version = user_version(*connection);
  return connection;
}

}  // namespace

std::filesystem::path true_path(const std::filesystem::path& path) {
  std::error_code error;
  const auto resolved = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? path : resolved;
}

std::filesystem::path log_of(const std::filesystem::path& database) {
  return database.string() + "-wal";
}

namespace {

/// Whether nobody writes the file, and this user may make nothing beside it. SQLite makes a log
/// even to read, so it would refuse such a file, as that of a stopped service in a folder of
/// another user's.
bool is_at_rest(const std::filesystem::path& path) {
  const auto folder = path.parent_path();
  return access(log_of(path).c_str(), F_OK) != 0 && errno == ENOENT &&
         faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) != 0;
}

/// The address by which SQLite reads a file as it lies, without locks and without a log.
std::string immutable(const std::filesystem::path& path) {
  std::string address = "file:";
  for (const char c : path.string()) {
    address += c == '%' ? "%25" : c == '?' ? "%3F" : c == '#' ? "%23" : std::string(1, c);
  }
  return address + "?immutable=1";
}

}  // namespace

std::unique_ptr<Connection> connect(const OpenOptions& options, const std::filesystem::path& path,
                                    WriterLock lock) {
  // Its own mutex guards the connection: SQLite's would be locked for each column of each row.
  const int flags =
      SQLite::OPEN_NOMUTEX |
      (options.read_only ? SQLite::OPEN_READONLY : SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  const bool is_frozen = options.read_only && options.vfs.empty() && is_at_rest(path);
  SQLite::Database sqlite(is_frozen ? immutable(path) : path.string(),
                          is_frozen ? flags | SQLite::OPEN_URI : flags, kBusyTimeoutMs,
                          options.vfs);
  apply_settings(sqlite);
  auto connection = std::make_unique<Connection>(path, std::move(lock), std::move(sqlite));
  connection->vfs = options.vfs;
  connection->read_only = options.read_only;
  return connection;
}

Status check_files(const Connection& connection) {
  for (const auto& [path, known] : {std::pair(connection.path, connection.file),
                                    std::pair(log_of(connection.path), connection.log)}) {
    if (!known || !is_exchanged(path, *known)) continue;
    return fail(ErrorCode::damaged,
                "database file " + path.string() +
                    " was deleted or replaced while it was open: nothing more is stored",
                "put the file back or restore a backup, then start again");
  }
  return {};
}

Result<std::unique_ptr<Connection>> open_connection(const OpenOptions& options) {
  const auto path = true_path(options.path);
  TW_TRY_VOID(require_no_folder(path));
  return guarded(path, [&] {
    return options.read_only || options.beside_writer ? open_without_lock(options, path)
                                                      : open_writer(options, path);
  });
}

bool is_of_newer_program(const std::filesystem::path& path) {
  try {
    SQLite::Database sqlite(path.string(), SQLite::OPEN_READONLY, kBusyTimeoutMs);
    const int stored = sqlite.execAndGet("PRAGMA user_version").getInt();
    return stored > static_cast<int>(embedded_migrations().size());
  } catch (const SQLite::Exception&) {
    return false;
  }
}

}  // namespace torchwatch::storage
