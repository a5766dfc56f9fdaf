#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "file_system.hpp"
#include "statements.hpp"
#include "torchwatch/database/database.hpp"
#include "writer_lock.hpp"

namespace torchwatch::storage {

inline constexpr int kBusyTimeoutMs = 5000;

/// The state of a Database. Use it under its mutex.
struct Database::Connection {
  Connection(std::filesystem::path where, WriterLock held, SQLite::Database opened)
      : path(std::move(where)), lock(std::move(held)), sqlite(std::move(opened)) {}

  std::filesystem::path path;
  WriterLock lock;  ///< before `sqlite`, so that it is released after the file is closed
  SQLite::Database sqlite;
  Statements statements;  ///< after `sqlite`, which cannot be closed before them
  std::string vfs;
  bool read_only = false;
  int version = 0;
  std::int64_t fence = 0;  ///< the number of this writer (table writer); 0: it is beside one
  std::optional<FileIdentity> file;  ///< a writer's, once open
  std::optional<FileIdentity> log;   ///< that of its write-ahead log

  std::list<std::function<void()>> on_commit;  ///< who listens

  std::recursive_mutex mutex;
  int depth = 0;                ///< number of nested transactions; only the outermost commits
  std::optional<Error> doomed;  ///< why the open transaction must not commit
};

using Connection = Database::Connection;

/// Checks that the paths of a writer's files still stand for the files that it has open. Errors:
/// damaged.
Status check_files(const Connection&);

/// Opens a file with the settings of every connection, and nothing else. Throws SQLite::Exception.
std::unique_ptr<Connection> connect(const OpenOptions&, const std::filesystem::path& path,
                                    WriterLock);

/// Returns the path with symbolic links followed, so that two names of one database have one lock
/// file.
std::filesystem::path true_path(const std::filesystem::path&);
std::filesystem::path log_of(const std::filesystem::path& database);  ///< its write-ahead log

/// Opens, checks and, for a writer, migrates, as Database::open promises.
Result<std::unique_ptr<Connection>> open_connection(const OpenOptions&);

}  // namespace torchwatch::storage
