#include "query.hpp"

namespace torchwatch::storage {

void Query::note_damage(std::string_view word) {
  if (damage_) return;
  damage_ = Error{ErrorCode::damaged,
                  "stored word \"" + std::string(word) + "\" is unknown in its column (" +
                      statement_->getQuery() + ")",
                  "restore a backup"};
}

Error not_stored(const std::string& what) {
  Error error{ErrorCode::not_found, what + " is not stored"};
  const auto noun = what.substr(0, what.find(' '));
  for (const auto* listed :
       {"incident", "comparison", "bisection", "build", "machine", "mute", "request", "token"}) {
    if (noun == listed) error.remedy = "`torchwatch " + noun + " list` lists them";
  }
  return error;
}

std::int64_t last_id(Connection& connection) {
  return connection.sqlite.getLastInsertRowid();
}

}  // namespace torchwatch::storage
