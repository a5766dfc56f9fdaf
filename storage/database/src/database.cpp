#include "torchwatch/database/database.hpp"

#include <sqlite3.h>

#include "connection.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {

Result<std::unique_ptr<Database>> Database::open(const OpenOptions& options) {
  TW_TRY(auto connection, open_connection(options));
  return std::unique_ptr<Database>(new Database(std::move(connection)));
}

Database::Database(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

/// SQLite moves the log into the file when the last connection closes, but not where that one only
/// reads: whoever copied the file then would miss what was stored last. What does not succeed here
/// is done by the next who writes.
Database::~Database() {
  if (connection_->fence == 0) return;
  sqlite3_wal_checkpoint_v2(connection_->sqlite.getHandle(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                            nullptr, nullptr);
}

Status Database::transact(const std::function<Status()>& work) {
  return write(*this, [&](Connection&) { return work(); });
}

Status Database::check_files() {
  const std::scoped_lock lock(connection_->mutex);
  return storage::check_files(*connection_);
}

Listening Database::on_commit(std::function<void()> listener) {
  auto& connection = *connection_;
  const std::scoped_lock lock(connection.mutex);
  auto* const kept = &connection.on_commit.emplace_back(std::move(listener));
  return {kept, [&connection](void* ended) {
            const std::scoped_lock lock_at_end(connection.mutex);
            connection.on_commit.remove_if([&](const auto& each) { return &each == ended; });
          }};
}

int Database::schema_version() const {
  return connection_->version;
}

}  // namespace torchwatch::storage
