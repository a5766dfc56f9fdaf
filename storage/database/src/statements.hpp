#pragma once

#include <SQLiteCpp/Statement.h>

#include <list>
#include <memory>
#include <string>

namespace torchwatch::storage {

/// Prepared statements of a connection, kept for the next who asks for the same SQL: preparing one
/// takes longer than running it where it looks up a row. Belongs to one connection, is used under
/// its mutex, and outlives what it has lent.
class Statements {
 public:
  struct GiveBack {
    Statements* owner;
    void operator()(SQLite::Statement*) const noexcept;
  };
  /// Comes back without bindings, and reads no more, when it is dropped.
  using Borrowed = std::unique_ptr<SQLite::Statement, GiveBack>;

  /// Throws SQLite::Exception, as for SQL that cannot be prepared.
  Borrowed borrow(SQLite::Database&, const std::string& sql);

 private:
  using Idle = std::list<std::unique_ptr<SQLite::Statement>>;
  void keep(std::unique_ptr<SQLite::Statement>);

  Idle idle_;  ///< the last used first
};

}  // namespace torchwatch::storage
