#include "torchwatch/outbox/outbox_waits.hpp"

#include "query.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {

Status OutboxWaits::note(WallMillis now, bool can_deliver) {
  return write(database_, [&](Connection& connection) -> Status {
    // `state <> 'sent'` is what the index of such messages says.
    execute(connection,
            "UPDATE outbox SET failing_since = ? WHERE state <> 'sent' AND failures >= ? "
            "AND failing_since IS NULL",
            now, can_deliver ? 1 : 0);
    return {};
  });
}

Result<std::map<Id, WallMillis>> OutboxWaits::since() {
  return read(database_, [](Connection& connection) -> Result<std::map<Id, WallMillis>> {
    std::map<Id, WallMillis> all;
    Query query(connection,
                "SELECT id, failing_since FROM outbox WHERE state <> 'sent' "
                "AND failing_since IS NOT NULL");
    while (query.next()) {
      const auto id = query.take<Id>();
      all.emplace(id, query.take<WallMillis>());
    }
    return all;
  });
}

}  // namespace torchwatch::storage
