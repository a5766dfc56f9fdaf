#include "torchwatch/storage/work_store.hpp"

#include "query.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSteps =
    "((SELECT ifnull(max(attempt_id), 0) FROM result) + "
    "(SELECT ifnull(max(rowid), 0) FROM bisection_event))";

LeftWork left_work_of(Query& row) {
  const auto kind = row.take<ItemKind>();
  auto item = row.take<std::string>();
  return {.key = {kind, std::move(item)}, .got_further = row.take<int>() != 0};
}

}  // namespace

Result<Id> WorkStore::begin(const ItemKey& key) {
  return write(database_, [&](Connection& connection) -> Result<Id> {
    execute(connection,
            "INSERT INTO work_under_way (kind, item, steps) VALUES (?, ?, " + kSteps + ")",
            key.kind, key.item);
    return last_id(connection);
  });
}

Status WorkStore::end(Id id) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection, "DELETE FROM work_under_way WHERE id = ?", id);
    return {};
  });
}

Result<std::optional<LeftWork>> WorkStore::take_left() {
  return write(database_, [](Connection& connection) -> Result<std::optional<LeftWork>> {
    TW_TRY(auto left, first_row(Query(connection, "SELECT kind, item, steps < " + kSteps +
                                                      " FROM work_under_way ORDER BY id DESC"),
                                left_work_of));
    execute(connection, "DELETE FROM work_under_way");
    return left;
  });
}

}  // namespace torchwatch::storage
