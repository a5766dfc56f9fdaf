#include "operator_figures.hpp"

#include "conditions.hpp"
#include "torchwatch/runs/operator_runs.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

struct RunWithId {
  Id attempt = 0;
  OperatorRun run = {};
};

RunWithId run_in(Query& row) {
  RunWithId found;
  found.attempt = row.take<Id>();
  found.run.slot = row.take<std::string>();
  found.run.build = row.take<Id>();
  found.run.iteration_ns = row.take<std::int64_t>();
  found.run.watched_ns = row.take<std::int64_t>();
  return found;
}

/// A run's volatile fact; 0 where it states none.
std::string fact(const std::string& name) {
  return "coalesce((SELECT value FROM covariate WHERE attempt_id = attempt.id AND name = '" + name +
         "'), 0)";
}

}  // namespace

void store_operator_figures(Connection& connection, Id attempt,
                            const std::map<std::string, OperatorFigures>& operators) {
  for (const auto& [name, figures] : operators) {
    execute(connection,
            "INSERT INTO operator_figure (attempt_id, name, calls, self_ns, allocated_bytes, "
            "kept_bytes) VALUES (?, ?, ?, ?, ?, ?)",
            attempt, name, figures.calls, figures.self_ns, figures.allocated_bytes,
            figures.kept_bytes);
  }
}

std::map<std::string, OperatorFigures> load_operator_figures(Connection& connection, Id attempt) {
  Query query(connection,
              "SELECT name, calls, self_ns, allocated_bytes, kept_bytes FROM operator_figure "
              "WHERE attempt_id = ?",
              attempt);
  std::map<std::string, OperatorFigures> operators;
  while (query.next()) {
    auto& figures = operators[query.take<std::string>()];
    figures.calls = query.take<std::int64_t>();
    figures.self_ns = query.take<std::int64_t>();
    figures.allocated_bytes = query.take<std::int64_t>();
    figures.kept_bytes = query.take<std::int64_t>();
  }
  return operators;
}

Result<std::vector<OperatorRun>> operator_runs_of(Database& database, Id comparison,
                                                  const std::string& slots) {
  return read(database, [&](Connection& connection) -> Result<std::vector<OperatorRun>> {
    TW_TRY(auto found,
           all_rows(Query(connection,
                          "SELECT attempt.id, slot, build_id, " + fact("operators_iteration_ns") +
                              ", " + fact("operators_watched_ns") +
                              " FROM attempt WHERE comparison_id = ?1 AND slot >= ?2 AND "
                              "slot < ?3 AND " +
                              kFillsSlot +
                              "AND EXISTS (SELECT 1 FROM operator_figure "
                              "WHERE attempt_id = attempt.id) ORDER BY attempt.id",
                          comparison, slots, slots + "\x7f"),
                    run_in));
    std::vector<OperatorRun> runs;
    for (auto& [attempt, run] : found) {
      run.operators = load_operator_figures(connection, attempt);
      runs.push_back(std::move(run));
    }
    return runs;
  });
}

}  // namespace torchwatch::storage
