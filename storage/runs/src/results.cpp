#include "results.hpp"

#include "environments.hpp"
#include "operator_figures.hpp"
#include "outputs.hpp"
#include "samples.hpp"

namespace torchwatch::storage {
namespace {

void insert_result(Connection& connection, Id attempt, const RunResult& result) {
  std::optional<std::int64_t> growth, retained, active, copy, idle;
  if (result.leak) {
    growth = result.leak->growth_bytes_per_iteration;
    retained = result.leak->retained_bytes;
  }
  if (result.breakdown) {
    active = result.breakdown->active_ns;
    copy = result.breakdown->copy_ns;
    idle = result.breakdown->idle_ns;
  }
  const Id environment = environment_id(connection, result.environment.facts);
  execute(connection,
          "INSERT INTO result (attempt_id, status, reason, environment_id, "
          "iterations_per_sample, leak_growth, leak_retained, active_ns, copy_ns, idle_ns, "
          "breakdown_reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          attempt, result.status, result.reason, environment, result.iterations_per_sample, growth,
          retained, active, copy, idle, result.breakdown_reason);
  count_run(connection, environment, attempt);
}

void insert_values(Connection& connection, Id attempt, Id benchmark, const RunResult& result) {
  for (const auto& [metric, value] : result.values) {
    execute(connection,
            "INSERT INTO value (benchmark_id, metric, attempt_id, value) VALUES (?, ?, ?, ?)",
            benchmark, metric, attempt, value);
  }
}

/// `table` has the columns attempt_id, name and a number.
void insert_numbers(Connection& connection, const std::string& table, Id attempt,
                    const std::map<std::string, std::int64_t>& numbers) {
  for (const auto& [name, number] : numbers) {
    execute(connection, "INSERT INTO " + table + " VALUES (?, ?, ?)", attempt, name, number);
  }
}

std::map<std::string, std::int64_t> load_numbers(Query query) {
  std::map<std::string, std::int64_t> numbers;
  while (query.next()) {
    auto name = query.take<std::string>();
    numbers.insert_or_assign(std::move(name), query.take<std::int64_t>());
  }
  return numbers;
}

std::optional<LeakFigures> take_leak(Query& row) {
  const auto growth = row.take<std::optional<std::int64_t>>();
  const auto retained = row.take<std::optional<std::int64_t>>();
  if (!growth || !retained) return std::nullopt;
  return LeakFigures{.growth_bytes_per_iteration = *growth,
                     .retained_bytes = *retained,
                     .live_bytes = {},
                     .heap_bytes = {}};
}

std::optional<Breakdown> take_breakdown(Query& row) {
  const auto active = row.take<std::optional<std::int64_t>>();
  const auto copy = row.take<std::optional<std::int64_t>>();
  const auto idle = row.take<std::optional<std::int64_t>>();
  if (!active || !copy || !idle) return std::nullopt;
  return Breakdown{*active, *copy, *idle};
}

struct StoredResult {
  RunResult result;
  std::string environment_digest;
};

StoredResult result_of(Query& row) {
  StoredResult stored;
  auto& result = stored.result;
  result.attempt = row.take<std::string>();
  result.status = row.take<RunStatus>();
  result.reason = row.take<std::string>();
  stored.environment_digest = row.take<std::string>();
  result.iterations_per_sample = row.take<std::int64_t>();
  result.leak = take_leak(row);
  result.breakdown = take_breakdown(row);
  result.breakdown_reason = row.take<std::string>();
  return stored;
}

Status load_values(Connection& connection, Id attempt, RunResult& result) {
  Query query(connection, "SELECT metric, value FROM value WHERE attempt_id = ?", attempt);
  while (query.next()) {
    const auto metric = query.take<Metric>();
    result.values[metric] = query.take<std::int64_t>();
  }
  if (query.damage()) return fail(*query.damage());
  return {};
}

Status load_all_samples(Connection& connection, Id attempt, RunResult& result) {
  TW_TRY(result.samples_ns, load_samples(connection, attempt, kWallSamples));
  TW_TRY(result.device_samples_ns, load_samples(connection, attempt, kDeviceSamples));
  if (!result.leak) return {};
  TW_TRY(result.leak->live_bytes, load_samples(connection, attempt, kLiveBytes));
  TW_TRY(result.leak->heap_bytes, load_samples(connection, attempt, kHeapBytes));
  return {};
}

}  // namespace

void store_result(Connection& connection, Id attempt, Id benchmark, const RunResult& result) {
  insert_result(connection, attempt, result);
  insert_values(connection, attempt, benchmark, result);
  insert_numbers(connection, "covariate", attempt, result.environment.volatile_facts);
  insert_numbers(connection, "operator", attempt, result.operators);
  store_operator_figures(connection, attempt, result.operator_figures);
  store_samples(connection, attempt, kWallSamples, result.samples_ns);
  store_samples(connection, attempt, kDeviceSamples, result.device_samples_ns);
  if (!result.outputs.empty()) {
    execute(connection, "INSERT INTO workload_output (attempt_id, figures) VALUES (?, ?)", attempt,
            text_of_outputs(result.outputs));
  }
  if (!result.leak) return;
  store_samples(connection, attempt, kLiveBytes, result.leak->live_bytes);
  store_samples(connection, attempt, kHeapBytes, result.leak->heap_bytes);
}

Result<RunResult> load_result(Connection& connection, Id attempt) {
  TW_TRY(auto stored,
         one_row(Query(connection,
                       "SELECT token, status, result.reason, digest, iterations_per_sample, "
                       "leak_growth, leak_retained, active_ns, copy_ns, idle_ns, breakdown_reason "
                       "FROM result JOIN attempt ON attempt.id = attempt_id "
                       "JOIN environment ON environment.id = environment_id WHERE attempt_id = ?",
                       attempt),
                 result_of, "result of attempt " + std::to_string(attempt)));
  auto result = std::move(stored.result);
  TW_TRY(result.environment.facts, facts_of(connection, stored.environment_digest));
  result.environment.volatile_facts = load_numbers(
      Query(connection, "SELECT name, value FROM covariate WHERE attempt_id = ?", attempt));
  result.operators = load_numbers(
      Query(connection, "SELECT name, calls FROM operator WHERE attempt_id = ?", attempt));
  result.operator_figures = load_operator_figures(connection, attempt);
  TW_TRY_VOID(load_values(connection, attempt, result));
  TW_TRY_VOID(load_all_samples(connection, attempt, result));
  return result;
}

}  // namespace torchwatch::storage
