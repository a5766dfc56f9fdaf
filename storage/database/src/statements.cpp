#include "statements.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <exception>

namespace torchwatch::storage {
namespace {

/// Statements that nobody uses: more than any task of the service asks for by turns.
constexpr std::size_t kIdleMax = 64;

}  // namespace

Statements::Borrowed Statements::borrow(SQLite::Database& database, const std::string& sql) {
  const auto found = std::ranges::find_if(
      idle_, [&](const auto& statement) { return statement->getQuery() == sql; });
  if (found == idle_.end()) return {new SQLite::Statement(database, sql), GiveBack{this}};
  Borrowed borrowed(found->release(), GiveBack{this});
  idle_.erase(found);
  return borrowed;
}

void Statements::keep(std::unique_ptr<SQLite::Statement> statement) {
  // A statement that failed says so once more.
  if (statement->tryReset() != SQLITE_OK) return;
  statement->clearBindings();
  idle_.push_front(std::move(statement));
  if (idle_.size() > kIdleMax) idle_.pop_back();
}

void Statements::GiveBack::operator()(SQLite::Statement* statement) const noexcept {
  std::unique_ptr<SQLite::Statement> owned(statement);
  try {
    owner->keep(std::move(owned));
  } catch (const std::exception&) {
    // It is prepared anew the next time.
  }
}

}  // namespace torchwatch::storage
