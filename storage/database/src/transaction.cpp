#include "transaction.hpp"

#include <sqlite3.h>

#include "query.hpp"

namespace torchwatch::storage {
namespace {

bool in_transaction(Connection& connection) {
  return sqlite3_get_autocommit(connection.sqlite.getHandle()) == 0;
}

/// SQLite may have rolled back by itself (full disk, I/O error). A ROLLBACK that fails leaves
/// nothing to do: the log's frames of this transaction carry no commit mark.
void roll_back(Connection& connection) {
  if (in_transaction(connection)) connection.sqlite.tryExec("ROLLBACK");
}

Status check_fence(Connection& connection) {
  if (connection.fence == 0) return {};
  Query query(connection, "SELECT fence, holder FROM writer");
  if (!query.next()) return fail(ErrorCode::damaged, "table writer has lost its row");
  if (query.take<std::int64_t>() == connection.fence) return {};
  return fail(ErrorCode::conflict, "database " + connection.path.string() +
                                       " was taken over by process " + query.take<std::string>() +
                                       ": stop one of the two");
}

}  // namespace

WriteScope::WriteScope(Connection& connection) : connection_(connection) {}

WriteScope::~WriteScope() {
  if (!entered_) return;
  // Only an exception that is not SQLite's gets here: what was written must not survive.
  --connection_.depth;
  if (connection_.depth == 0) {
    roll_back(connection_);
    connection_.doomed.reset();
  } else {
    connection_.doomed = Error{ErrorCode::internal, "left by an exception"};
  }
}

Status WriteScope::begin() {
  if (connection_.depth == 0) TW_TRY_VOID(begin_outermost());
  changes_before_ = connection_.sqlite.getTotalChanges();
  ++connection_.depth;
  entered_ = true;
  return {};
}

Status WriteScope::begin_outermost() {
  if (connection_.read_only) {
    return fail(ErrorCode::internal,
                connection_.path.string() + " was opened for reading and cannot be written");
  }
  TW_TRY_VOID(check_files(connection_));
  auto begun = guarded(connection_.path, [&]() -> Status {
    execute(connection_, "BEGIN IMMEDIATE");
    return check_fence(connection_);
  });
  if (!begun) roll_back(connection_);
  return begun;
}

Status WriteScope::settle(const Status& outcome) {
  entered_ = false;
  --connection_.depth;
  if (connection_.depth == 0) return settle_outermost(outcome);
  const bool changed = connection_.sqlite.getTotalChanges() != changes_before_;
  const bool lost = !in_transaction(connection_);
  if (!outcome && (changed || lost) && !connection_.doomed) connection_.doomed = outcome.error();
  return {};
}

Status WriteScope::settle_outermost(const Status& outcome) {
  const auto doomed = std::exchange(connection_.doomed, std::nullopt);
  if (!outcome || doomed) {
    roll_back(connection_);
    return outcome && doomed ? Status{fail(*doomed)} : Status{};
  }
  const bool changed = connection_.sqlite.getTotalChanges() != changes_before_;
  auto committed = guarded(connection_.path, [&]() -> Status {
    execute(connection_, "COMMIT");
    return {};
  });
  if (!committed) roll_back(connection_);
  // A listener that writes in its turn would otherwise wake itself for ever.
  if (!committed || !changed) return committed;
  for (const auto& listener : connection_.on_commit) listener();
  return committed;
}

ReadScope::ReadScope(Connection& connection)
    : connection_(connection), owns_(!in_transaction(connection)) {
  if (owns_) execute(connection_, "BEGIN");
}

ReadScope::~ReadScope() {
  if (owns_) roll_back(connection_);
}

}  // namespace torchwatch::storage
