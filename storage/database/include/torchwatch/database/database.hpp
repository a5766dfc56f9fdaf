#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::storage {

struct OpenOptions {
  std::filesystem::path path;
  std::string vfs{};  ///< name of a registered SQLite VFS; empty: the default (tests inject faults)
  bool read_only = false;  ///< a reader's connection; the file must exist with this version
  /// For short changes beside the process that writes; the file must exist with this version.
  bool beside_writer = false;
};

/// A rule that must hold for every stored row, and rows that break it. A sound file has no breach.
struct InvariantBreach {
  std::string invariant;  ///< name of its .sql file
  std::string rows;       ///< the first few, as text
};

/// Ends what it stands for when nobody keeps it any longer.
using Listening = std::shared_ptr<void>;

/// A connection to the SQLite file, in WAL mode with synchronous=FULL, migrated to this program's
/// schema. A file has one process that works on it, whatever else stores short changes beside it:
/// that one alone migrates the file and takes over what an earlier one left. Every write is one
/// BEGIN IMMEDIATE transaction, which waits for those of other processes, guarded by state and
/// version. Storage errors (full disk, I/O, read-only, corrupt) come back as
/// `unavailable` or `corrupt` and never leave half a transaction. Thread-safe by a mutex.
class Database {
 public:
  /// Opens the file and, for a writer, migrates it after a backup. Errors: conflict (a newer
  /// program wrote it, or another process works on it, which the message names), unavailable,
  /// corrupt.
  static Result<std::unique_ptr<Database>> open(const OpenOptions&);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs `work` in one transaction: committed when it returns a value, rolled back otherwise.
  /// Store methods called inside take part in it. Other threads wait until it ends.
  Status transact(const std::function<Status()>& work);

  /// Runs every invariants/*.sql, integrity_check and foreign_key_check, and returns
  /// what they find. Reads every page, so other threads wait long: a service does it on a reader's
  /// connection. Errors: cancelled, unavailable, damaged.
  Result<std::vector<InvariantBreach>> check_invariants(std::stop_token stop = {});

  /// Checks that a writer's file was not deleted or replaced while it is open, as every
  /// transaction does. Errors: damaged.
  Status check_files();

  /// Has `listener` called after each commit that changed a row, as long as the answer is kept,
  /// which must not outlive the database. It is called with the database locked, so it must neither
  /// block nor use it.
  [[nodiscard]] Listening on_commit(std::function<void()> listener);

  int schema_version() const;

  struct Connection;  ///< defined inside the component only
  Connection& connection() { return *connection_; }

 private:
  explicit Database(std::unique_ptr<Connection>);
  std::unique_ptr<Connection> connection_;
};

}  // namespace torchwatch::storage
