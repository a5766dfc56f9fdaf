#include "torchwatch/runs/node_values.hpp"

#include "query.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

/// Where there are fewer nightlies: about as many comparisons as thirty nightlies bring.
constexpr int kRowsMost = 2'000;

/// Drills are slowed down and studies run under settings; pull requests have builds of their own.
const std::string kOnNodes =
    "SELECT comparison_id, node FROM node_time JOIN comparison ON comparison.id = comparison_id "
    "WHERE comparison_id >= ifnull((SELECT id FROM comparison WHERE purpose = 'nightly' "
    "ORDER BY id DESC LIMIT 1 OFFSET ?), 0) "
    "AND state IN ('measured', 'judged', 'bisected', 'reported') "
    "AND purpose IN ('nightly', 'requested', 'recheck', 'drift', 'self_test') "
    "ORDER BY comparison_id DESC, node LIMIT ?";

const std::string kValues =
    "SELECT class_id, node, build_id, attempt.benchmark_id, value.value FROM attempt "
    "JOIN value ON value.attempt_id = attempt.id AND metric = ? "
    "JOIN result ON result.attempt_id = attempt.id "
    "JOIN environment ON environment.id = environment_id "
    "JOIN machine ON machine.id = machine_id "
    "WHERE comparison_id = ? AND node IS NOT NULL AND class_id IS NOT NULL "
    "ORDER BY class_id, node, build_id, attempt.benchmark_id, attempt.id";

NodeValues take_item(Query& row) {
  return {.machine_class = row.take<Id>(),
          .node = row.take<std::string>(),
          .build = row.take<Id>(),
          .benchmark = row.take<Id>()};
}

bool are_of_one_item(const NodeValues& a, const NodeValues& b) {
  return a.machine_class == b.machine_class && a.node == b.node && a.build == b.build &&
         a.benchmark == b.benchmark;
}

}  // namespace

Result<std::vector<ComparisonOnNodes>> comparisons_on_nodes(Database& database, int nightlies) {
  using Found = std::vector<ComparisonOnNodes>;
  return read(database, [&](Connection& connection) -> Result<Found> {
    Query query(connection, kOnNodes, nightlies - 1, kRowsMost);
    Found found;
    while (query.next()) {
      const auto comparison = query.take<Id>();
      const bool is_new = found.empty() || found.back().comparison != comparison;
      if (is_new) found.push_back({.comparison = comparison});
      found.back().nodes.push_back(query.take<std::string>());
    }
    if (query.damage()) return fail(*query.damage());
    return found;
  });
}

Result<std::vector<NodeValues>> node_values_of(Database& database, Id comparison) {
  return read(database, [&](Connection& connection) -> Result<std::vector<NodeValues>> {
    Query query(connection, kValues, Metric::time, comparison);
    std::vector<NodeValues> all;
    while (query.next()) {
      auto item = take_item(query);
      const bool is_new = all.empty() || !are_of_one_item(all.back(), item);
      if (is_new) all.push_back(std::move(item));
      all.back().values.push_back(query.take<std::int64_t>());
    }
    if (query.damage()) return fail(*query.damage());
    return all;
  });
}

}  // namespace torchwatch::storage
