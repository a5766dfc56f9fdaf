#include "torchwatch/runs/node_time.hpp"

#include "owner_column.hpp"
#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {

Result<std::map<std::string, double>> node_seconds(Database& database, std::optional<Owner> owner) {
  using Found = std::map<std::string, double>;
  constexpr double kSecond = 1e-3;
  return read(database, [&](Connection& connection) -> Result<Found> {
    const auto of = owner ? "WHERE " + owner_column(owner->kind) + " = ?1 " : "WHERE ?1 = 0 ";
    Query query(connection, "SELECT node, sum(milliseconds) FROM node_time " + of + "GROUP BY node",
                owner ? owner->id : Id{0});
    Found found;
    while (query.next()) {
      auto node = query.take<std::string>();
      found[std::move(node)] = kSecond * static_cast<double>(query.take<std::int64_t>());
    }
    return found;
  });
}

}  // namespace torchwatch::storage
