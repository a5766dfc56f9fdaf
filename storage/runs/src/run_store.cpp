#include "torchwatch/runs/run_store.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "benchmarks.hpp"
#include "environments.hpp"
#include "owner_column.hpp"
#include "results.hpp"
#include "samples.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

/// Why an attempt ended that was found after the service had died.
const std::string kEndedWithService = "its process ended with the service";

struct Attempt {
  Id id = 0;
  Id benchmark = 0;
  AttemptState state = AttemptState::issued;
};

Attempt attempt_of(Query& row) {
  return Attempt{row.take<Id>(), row.take<Id>(), row.take<AttemptState>()};
}

Result<Attempt> find_attempt(Connection& connection, const std::string& token) {
  return one_row(
      Query(connection, "SELECT id, benchmark_id, state FROM attempt WHERE token = ?", token),
      attempt_of, "attempt " + token);
}

struct Ending {
  AttemptState state = AttemptState::done;
  std::string reason = {};
  std::string output = {};
  std::string node = {};
};

/// issued -> its end, once: a late twin or an abandoned process changes nothing.
Result<Attempt> end_attempt(Connection& connection, const std::string& token, const Ending& ending,
                            WallMillis now) {
  const int changed = execute(connection,
                              "UPDATE attempt SET state = ?, reason = ?, output = ?, ended_at = ?, "
                              "node = ifnull(nullif(?, ''), node) "
                              "WHERE token = ? AND state = 'issued'",
                              ending.state, ending.reason, ending.output, now, ending.node, token);
  TW_TRY(auto attempt, find_attempt(connection, token));
  if (changed == 1) return attempt;
  return fail(ErrorCode::conflict, "attempt " + token + " is " +
                                       std::string(to_string(attempt.state)) +
                                       " already: the late result was not stored");
}

Status store_end(Connection& connection, const AttemptEnd& end, WallMillis now) {
  const auto& token = end.token;
  if (const auto* failure = std::get_if<AttemptFailure>(&end.how)) {
    TW_TRY_VOID(end_attempt(connection, token,
                            {.state = AttemptState::failed,
                             .reason = failure->reason,
                             .output = failure->output,
                             .node = end.node},
                            now));
    return {};
  }
  const auto& result = std::get<RunResult>(end.how);
  if (result.attempt != token) {
    return fail(ErrorCode::conflict, "attempt " + token + " got a result of attempt \"" +
                                         result.attempt + "\": it was not stored");
  }
  TW_TRY(const auto attempt, end_attempt(connection, token, {.node = end.node}, now));
  store_result(connection, attempt.id, attempt.benchmark, result);
  return {};
}

RunRow run_of(Query& row) {
  RunRow run;
  run.attempt = row.take<Id>();
  run.slot = row.take<std::string>();
  run.build = row.take<Id>();
  run.benchmark = take_benchmark(row);
  run.pass = row.take<Pass>();
  // An attempt without a result is a failed run with the attempt's reason.
  run.status = row.take<std::optional<RunStatus>>().value_or(RunStatus::failed);
  run.reason = row.take<std::string>();
  run.environment_digest = row.take<std::string>();
  run.node = row.take<std::string>();
  return run;
}

Result<std::vector<RunRow>> ended_runs(Connection& connection, Owner owner) {
  return all_rows(
      Query(connection,
            std::string("SELECT attempt.id, slot, build_id, ") + kBenchmarkColumns +
                ", pass, status, ifnull(result.reason, attempt.reason), ifnull(digest, ''), "
                "ifnull(node, '') "
                "FROM attempt JOIN benchmark ON benchmark.id = benchmark_id "
                "LEFT JOIN result ON result.attempt_id = attempt.id "
                "LEFT JOIN environment ON environment.id = environment_id WHERE " +
                owner_column(owner.kind) +
                " = ? AND attempt.state IN ('done', 'failed') ORDER BY attempt.id",
            owner.id),
      run_of);
}

Status add_values(Connection& connection, Owner owner, std::vector<RunRow>& runs) {
  std::unordered_map<Id, RunRow*> by_attempt;
  for (auto& run : runs) by_attempt.emplace(run.attempt, &run);
  Query query(connection,
              "SELECT attempt_id, metric, value FROM attempt "
              "JOIN value ON value.attempt_id = attempt.id WHERE " +
                  owner_column(owner.kind) + " = ?",
              owner.id);
  while (query.next()) {
    const auto run = by_attempt.find(query.take<Id>());
    const auto metric = query.take<Metric>();
    if (run != by_attempt.end()) run->second->values[metric] = query.take<std::int64_t>();
  }
  if (query.damage()) return fail(*query.damage());
  return {};
}

Disturbance disturbance_in(Query& row) {
  constexpr double kThousandth = 1e-3;
  constexpr double kNano = 1e-9;
  constexpr double kTick = 1e-2;  // of /proc/stat, on every processor of today
  const auto next = [&row] { return static_cast<double>(row.take<std::int64_t>()); };
  return Disturbance{.runs = row.take<int>(),
                     .load_least = kThousandth * next(),
                     .load_most = kThousandth * next(),
                     .seconds = kNano * next(),
                     .stolen_seconds = kTick * next(),
                     .is_virtual = row.take<int>() != 0};
}

Series series_of(Query& row) {
  auto benchmark = take_benchmark(row);
  return {std::move(benchmark), row.take<Metric>()};
}

/// The metrics of a GPU, which are those of a CPU and more, as a JSON array.
std::string every_judged_metric() {
  auto all = nlohmann::json::array();
  for (const auto metric : judged_metrics_of(Device::cuda)) all.push_back(to_string(metric));
  return all.dump();
}

bool is_judged(const Series& series) {
  const auto& judged = judged_metrics_of(series.benchmark.configuration.device);
  return std::ranges::find(judged, series.metric) != judged.end();
}

}  // namespace

Result<Id> RunStore::issue(const NewAttempt& attempt, const std::string& token, WallMillis now) {
  auto stored = write(database_, [&](Connection& connection) -> Result<Id> {
    execute(connection,
            "INSERT INTO attempt (token, fence, " + owner_column(attempt.owner.kind) +
                ", slot, build_id, benchmark_id, pass, state, issued_at, node) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''))",
            token, connection.fence, attempt.owner.id, attempt.slot, attempt.build,
            benchmark_id(connection, attempt.benchmark), attempt.pass, AttemptState::issued, now,
            attempt.node);
    return last_id(connection);
  });
  if (stored) return stored;
  return fail(stored.error().within("attempt " + token + " of slot " + attempt.slot));
}

Status RunStore::record(const std::vector<AttemptEnd>& ends, WallMillis now) {
  return write(database_, [&](Connection& connection) -> Status {
    for (const auto& end : ends) TW_TRY_VOID(store_end(connection, end, now));
    return {};
  });
}

Status RunStore::abandon(Owner owner, WallMillis now) {
  return write(database_, [&](Connection& connection) -> Status {
    execute(connection,
            "UPDATE attempt SET state = 'abandoned', ended_at = ?, reason = 'broken off' "
            "WHERE state = 'issued' AND " +
                owner_column(owner.kind) + " = ?",
            now, owner.id);
    return {};
  });
}

Status RunStore::abandon(const std::vector<std::string>& tokens, WallMillis now) {
  return write(database_, [&](Connection& connection) -> Status {
    for (const auto& token : tokens) {
      execute(connection,
              "UPDATE attempt SET state = 'abandoned', ended_at = ?, reason = 'lost' "
              "WHERE state = 'issued' AND token = ?",
              now, token);
    }
    return {};
  });
}

Result<int> RunStore::abandon_leftovers(WallMillis now) {
  return write(database_, [&](Connection& connection) -> Result<int> {
    // The first attempt of a slot that ends with the service counts for nothing: a machine may be
    // switched off. From the second on it counts as the slot's own failure, of which a slot has
    // two: a run that takes the service down three times has failed.
    return execute(connection,
                   "UPDATE attempt AS left SET ended_at = ?1, reason = ?2, "
                   "state = CASE WHEN EXISTS (SELECT 1 FROM attempt AS before "
                   "WHERE before.comparison_id = left.comparison_id "
                   "AND before.slot = left.slot AND before.state = 'abandoned' "
                   "AND before.reason = ?2) OR EXISTS (SELECT 1 FROM attempt AS before "
                   "WHERE before.bisection_id = left.bisection_id "
                   "AND before.slot = left.slot AND before.state = 'abandoned' "
                   "AND before.reason = ?2) "
                   "THEN 'failed' ELSE 'abandoned' END WHERE state = 'issued'",
                   now, kEndedWithService);
  });
}

Result<std::vector<RunRow>> RunStore::runs_of(Owner owner) {
  return read(database_, [&](Connection& connection) -> Result<std::vector<RunRow>> {
    TW_TRY(auto runs, ended_runs(connection, owner));
    TW_TRY_VOID(add_values(connection, owner, runs));
    return runs;
  });
}

Result<std::vector<std::int64_t>> RunStore::samples_of(Id attempt) {
  return read(database_, [&](Connection& connection) {
    return load_samples(connection, attempt, kWallSamples);
  });
}

Result<RunResult> RunStore::result_of(Id attempt) {
  return read(database_, [&](Connection& connection) { return load_result(connection, attempt); });
}

Result<Environment> RunStore::environment(const std::string& digest) {
  return read(database_, [&](Connection& connection) -> Result<Environment> {
    TW_TRY(auto facts, facts_of(connection, digest));
    return Environment{std::move(facts), {}};
  });
}

Result<std::vector<Series>> RunStore::all_series(const std::string& workload) {
  return read(database_, [&](Connection& connection) -> Result<std::vector<Series>> {
    TW_TRY(auto all,
           all_rows(Query(connection,
                          std::string("SELECT ") + kBenchmarkColumns +
                              ", wanted.value FROM benchmark JOIN json_each(?2) AS wanted "
                              "WHERE (?1 = '' OR workload = ?1) AND EXISTS ("
                              "SELECT 1 FROM value WHERE value.benchmark_id = benchmark.id "
                              "AND value.metric = wanted.value AND attempt_id NOT IN "
                              "(SELECT id FROM attempt WHERE comparison_id IN "
                              "(SELECT comparison_id FROM study))) "
                              "ORDER BY workload, configuration, variant, wanted.key",
                          workload, every_judged_metric()),
                    series_of));
    std::erase_if(all, [](const Series& series) { return !is_judged(series); });
    return all;
  });
}

Result<std::optional<WallMillis>> RunStore::began_at(Owner owner) {
  return read(database_, [&](Connection& connection) -> Result<std::optional<WallMillis>> {
    Query query(connection,
                "SELECT min(issued_at) FROM attempt WHERE " + owner_column(owner.kind) + " = ?",
                owner.id);
    return query.next() ? query.take<std::optional<WallMillis>>() : std::nullopt;
  });
}

Result<double> RunStore::seconds_of(Owner owner, const Benchmark& benchmark) {
  constexpr double kMillisPerSecond = 1000;
  return read(database_, [&](Connection& connection) -> Result<double> {
    Query query(connection,
                "SELECT issued_at, ended_at FROM attempt "
                "JOIN benchmark ON benchmark.id = attempt.benchmark_id WHERE " +
                    owner_column(owner.kind) +
                    " = ? AND workload = ? AND configuration = ? AND variant = ? "
                    "AND pass <> 'profile' AND ended_at IS NOT NULL ORDER BY issued_at",
                owner.id, benchmark.workload, to_string(benchmark.configuration),
                to_string(benchmark.variant));
    WallMillis total = 0;
    WallMillis counted_to = 0;
    while (query.next()) {
      const auto from = std::max(query.take<WallMillis>(), counted_to);
      const auto to = query.take<WallMillis>();
      total += std::max<WallMillis>(0, to - from);
      counted_to = std::max(counted_to, to);
    }
    return static_cast<double>(total) / kMillisPerSecond;
  });
}

Result<Disturbance> RunStore::disturbance_of(Owner owner, Pass pass) {
  const auto fact = [](const char* name) {
    return std::string("(SELECT value FROM covariate WHERE attempt_id = attempt.id AND name = '") +
           name + "')";
  };
  return read(database_, [&](Connection& connection) {
    return one_row(Query(connection,
                         "SELECT count(*), ifnull(min(load), 0), ifnull(max(load), 0), "
                         "ifnull(sum(wall), 0), ifnull(sum(stolen), 0), ifnull(max(virtual), 0) "
                         "FROM (SELECT " +
                             fact("load1_milli") + " AS load, " + fact("wall_ns") + " AS wall, " +
                             fact("steal_ticks") + " AS stolen, " + fact("is_virtual") +
                             " AS virtual FROM attempt WHERE " + owner_column(owner.kind) +
                             " = ? AND pass = ? AND state = 'done') WHERE wall > 0",
                         owner.id, pass),
                   disturbance_in, "what disturbed runs");
  });
}

}  // namespace torchwatch::storage
