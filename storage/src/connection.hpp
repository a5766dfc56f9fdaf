#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "torchwatch/storage/database.hpp"
#include "writer_lock.hpp"

namespace torchwatch::storage {

/// The state of a Database. Use it under its mutex.
struct Database::Connection {
  Connection(std::filesystem::path file, WriterLock held, SQLite::Database opened)
      : path(std::move(file)), lock(std::move(held)), sqlite(std::move(opened)) {}

  std::filesystem::path path;
  WriterLock lock;  ///< before `sqlite`, so that it is released after the file is closed
  SQLite::Database sqlite;
  std::string vfs;
  bool read_only = false;
  int version = 0;
  std::int64_t fence = 0;  ///< the number of this writer; see the table writer

  std::recursive_mutex mutex;
  int depth = 0;                ///< number of nested transactions; only the outermost commits
  std::optional<Error> doomed;  ///< why the open transaction must not commit
};

using Connection = Database::Connection;

/// Opens, checks and, for a writer, migrates, as Database::open promises.
Result<std::unique_ptr<Connection>> open_connection(const OpenOptions&);

}  // namespace torchwatch::storage
