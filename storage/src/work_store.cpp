#include "torchwatch/storage/work_store.hpp"

#include "query.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

ItemKey key_of(Query& row) {
  const auto kind = row.take<ItemKind>();
  return ItemKey{kind, row.take<std::string>()};
}

}  // namespace

Result<Id> WorkStore::begin(const ItemKey& key) {
  return write(database_, [&](Connection& connection) -> Result<Id> {
    execute(connection, "INSERT INTO work_under_way (kind, item) VALUES (?, ?)", key.kind,
            key.item);
    return last_id(connection);
  });
}

Status WorkStore::end(Id id) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "DELETE FROM work_under_way WHERE id = ?", id);
    return {};
  });
}

Result<std::optional<ItemKey>> WorkStore::take_left() {
  return write(database_, [](Connection& connection) -> Result<std::optional<ItemKey>> {
    TW_TRY(auto left,
           first_row(Query(connection, "SELECT kind, item FROM work_under_way ORDER BY id DESC"),
                     key_of));
    execute(connection, "DELETE FROM work_under_way");
    return left;
  });
}

}  // namespace torchwatch::storage
