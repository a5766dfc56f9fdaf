#pragma once

#include <utility>

#include "connection.hpp"
#include "sqlite_errors.hpp"

namespace torchwatch::storage {

/// One level of a write transaction, rolled back unless `settle` was called. There are no
/// savepoints: a nested level that fails after a change dooms the whole transaction.
class WriteScope {
 public:
  explicit WriteScope(Connection& connection);
  WriteScope(const WriteScope&) = delete;
  WriteScope& operator=(const WriteScope&) = delete;
  ~WriteScope();

  /// BEGIN IMMEDIATE at the outermost level, and the check that no later writer has taken over.
  Status begin();
  /// Commits at the outermost level when nothing failed, else rolls back and returns the error.
  Status settle(const Status& outcome);

 private:
  Status begin_outermost();
  Status settle_outermost(const Status& outcome);

  Connection& connection_;
  int changes_before_ = 0;
  bool entered_ = false;
};

/// Runs `work(connection)`, which returns a Result, in the caller's transaction or in a new one:
/// committed when the result has a value, rolled back otherwise.
template <typename Work>
auto write(Database& database, Work&& work) -> decltype(work(database.connection())) {
  auto& connection = database.connection();
  const std::scoped_lock lock(connection.mutex);
  WriteScope scope(connection);
  TW_TRY_VOID(scope.begin());
  auto outcome = guarded(connection.path, [&] { return work(connection); });
  TW_TRY_VOID(scope.settle(outcome ? Status{} : Status{fail(outcome.error())}));
  return outcome;
}

/// One consistent view for several statements, unless a transaction is open already.
class ReadScope {
 public:
  explicit ReadScope(Connection& connection);
  ReadScope(const ReadScope&) = delete;
  ReadScope& operator=(const ReadScope&) = delete;
  ~ReadScope();

 private:
  Connection& connection_;
  bool owns_;
};

/// Runs `work(connection)`, which reads and returns a Result.
template <typename Work>
auto read(Database& database, Work&& work) -> decltype(work(database.connection())) {
  auto& connection = database.connection();
  const std::scoped_lock lock(connection.mutex);
  return guarded(connection.path, [&] {
    const ReadScope scope(connection);
    return work(connection);
  });
}

}  // namespace torchwatch::storage
