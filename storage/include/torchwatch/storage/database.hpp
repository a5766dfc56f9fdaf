#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::storage {

struct OpenOptions {
  std::filesystem::path path;
  std::string vfs{};  ///< name of a registered SQLite VFS; empty: the default (tests inject faults)
  bool read_only = false;  ///< a reader's connection; the file must exist and be of this version
};

/// A rule that must hold for every stored row, and the rows that break it (none in a sound file).
struct InvariantBreach {
  std::string invariant;  ///< name of its .sql file
  std::string rows;       ///< the first few, as text
};

/// The one door to SQLite: a connection in WAL mode with synchronous=FULL, migrated to this
/// program's schema. One writer a process; every write is one BEGIN IMMEDIATE transaction, state
/// and version guarded. Storage errors (full disk, I/O, read-only, corrupt) come back as
/// `unavailable` or `corrupt` and never leave half a transaction. Thread-safe by a mutex.
class Database {
 public:
  /// Opens and, for a writer, migrates (backup first). Errors: conflict (a newer program's
  /// database; another writer holds it, named), unavailable, corrupt.
  static Result<std::unique_ptr<Database>> open(const OpenOptions&);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs `work` in one transaction: committed when it returns a value, rolled back otherwise.
  /// Store methods called inside take part in it. Not re-entrant across threads.
  Status transact(const std::function<Status()>& work);

  /// Runs every invariants/*.sql, integrity_check and foreign_key_check.
  Result<std::vector<InvariantBreach>> check_invariants();

  int schema_version() const;

  struct Connection;  ///< defined inside the room only
  Connection& connection() { return *connection_; }

 private:
  explicit Database(std::unique_ptr<Connection>);
  std::unique_ptr<Connection> connection_;
};

}  // namespace torchwatch::storage
