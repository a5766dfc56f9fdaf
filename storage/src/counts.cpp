#include "torchwatch/storage/counts.hpp"

#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

OpenCounts::ByState counted(Query query) {
  OpenCounts::ByState counts;
  while (query.next()) {
    auto state = query.take<std::string>();
    counts.insert_or_assign(std::move(state), query.take<std::int64_t>());
  }
  return counts;
}

/// The condition is the one of an index that holds only such rows.
OpenCounts::ByState count(Connection& connection, const std::string& table,
                          const std::string& condition) {
  return counted(Query(connection, "SELECT state, count(*) FROM " + table + " WHERE " + condition +
                                       " GROUP BY state"));
}

}  // namespace

Result<OpenCounts> open_counts(Database& database) {
  return read(database, [](Connection& connection) -> Result<OpenCounts> {
    OpenCounts counts{.comparisons = count(connection, "comparison", "ended_at IS NULL"),
                      .incidents = count(connection, "incident", "state <> 'closed'"),
                      .messages = count(connection, "outbox", "state <> 'sent'"),
                      .requests = count(connection, "request", "state = 'pending'"),
                      .last_nightly_ended_at = {}};
    counts.requests.merge(count(connection, "request", "state = 'running'"));
    Query ended(connection,
                "SELECT ended_at FROM comparison WHERE purpose = 'nightly' "
                "AND ended_at IS NOT NULL ORDER BY id DESC LIMIT 1");
    if (ended.next()) counts.last_nightly_ended_at = ended.take<WallMillis>();
    return counts;
  });
}

}  // namespace torchwatch::storage
