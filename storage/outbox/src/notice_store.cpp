#include "torchwatch/outbox/notice_store.hpp"

#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

Id event_of(Query& row) {
  return row.take<Id>();
}

}  // namespace

Result<Id> NoticeStore::told(const std::string& receiver) {
  const std::string select = "SELECT event FROM notice_cursor WHERE receiver = ?";
  TW_TRY(const auto known, read(database_, [&](Connection& connection) {
           return first_row(Query(connection, select, receiver), event_of);
         }));
  if (known) return *known;
  return write(database_, [&](Connection& connection) -> Result<Id> {
    execute(connection,
            "INSERT INTO notice_cursor (receiver, event) "
            "SELECT ?, ifnull((SELECT max(id) FROM event), 0) WHERE true "
            "ON CONFLICT (receiver) DO NOTHING",
            receiver);
    return one_row(Query(connection, select, receiver), event_of, "receiver " + receiver);
  });
}

Status NoticeStore::note(const std::string& receiver, Id event) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "UPDATE notice_cursor SET event = ? WHERE receiver = ?", event, receiver);
    return {};
  });
}

}  // namespace torchwatch::storage
