#include "query.hpp"

namespace torchwatch::storage {

void Query::note_damage(std::string_view word) {
  if (damage_) return;
  damage_ = Error{ErrorCode::damaged,
                  "stored word \"" + std::string(word) + "\" is unknown in its column (" +
                      statement_->getQuery() + ")",
                  "restore a backup"};
}

std::int64_t last_id(Connection& connection) {
  return connection.sqlite.getLastInsertRowid();
}

}  // namespace torchwatch::storage
