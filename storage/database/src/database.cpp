#include "torchwatch/database/database.hpp"

#include "connection.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {

Result<std::unique_ptr<Database>> Database::open(const OpenOptions& options) {
  TW_TRY(auto connection, open_connection(options));
  return std::unique_ptr<Database>(new Database(std::move(connection)));
}

Database::Database(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Database::~Database() = default;

Status Database::transact(const std::function<Status()>& work) {
  return write(*this, [&](Connection&) { return work(); });
}

Status Database::check_files() {
  const std::scoped_lock lock(connection_->mutex);
  return storage::check_files(*connection_);
}

void Database::on_commit(std::function<void()> listener) {
  const std::scoped_lock lock(connection_->mutex);
  connection_->on_commit = std::move(listener);
}

int Database::schema_version() const {
  return connection_->version;
}

}  // namespace torchwatch::storage
