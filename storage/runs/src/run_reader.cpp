#include "torchwatch/runs/run_reader.hpp"

#include <algorithm>
#include <sstream>

#include "benchmarks.hpp"
#include "facts_text.hpp"
#include "owner_column.hpp"
#include "samples.hpp"
#include "torchwatch/runs/retention.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

const std::string kRuns =
    std::string("SELECT attempt.id, comparison_id, bisection_id, slot, build_id, ") +
    kBenchmarkColumns +
    ", pass, attempt.state, status, ifnull(result.reason, attempt.reason), issued_at, ended_at, "
    "iterations_per_sample, machine_id, machine_class.id, machine_class.name, "
    "machine_class.facts, ifnull(node, ''), "
    "EXISTS (SELECT 1 FROM thinned_sample WHERE thinned_sample.attempt_id = attempt.id) "
    "FROM attempt JOIN benchmark ON benchmark.id = benchmark_id "
    "LEFT JOIN result ON result.attempt_id = attempt.id "
    "LEFT JOIN environment ON environment.id = environment_id "
    "LEFT JOIN machine ON machine.id = machine_id "
    "LEFT JOIN machine_class ON machine_class.id = class_id ";

const std::string kMachines =
    "SELECT machine.id, machine.facts, runs, first.ended_at, last.ended_at, machine_class.id, "
    "machine_class.name, machine_class.facts FROM machine "
    "LEFT JOIN machine_class ON machine_class.id = class_id "
    "LEFT JOIN attempt AS first ON first.id = first_attempt_id "
    "LEFT JOIN attempt AS last ON last.id = last_attempt_id ";

Owner take_owner(Query& row) {
  const auto comparison = row.take<std::optional<Id>>();
  const auto bisection = row.take<std::optional<Id>>();
  if (comparison) return {OwnerKind::comparison, *comparison};
  return {OwnerKind::bisection, bisection.value_or(0)};
}

std::optional<MachineClass> take_class(Query& row) {
  const auto id = row.take<std::optional<Id>>();
  auto name = row.take<std::optional<std::string>>();
  const auto facts = row.take<std::optional<std::string>>();
  if (!id) return std::nullopt;
  return MachineClass{*id, name.value_or(""), facts_in(facts.value_or(""))};
}

RunDetail run_of(Query& row) {
  return RunDetail{.attempt = row.take<Id>(),
                   .owner = take_owner(row),
                   .slot = row.take<std::string>(),
                   .build = row.take<Id>(),
                   .benchmark = take_benchmark(row),
                   .pass = row.take<Pass>(),
                   .state = row.take<AttemptState>(),
                   .status = row.take<std::optional<RunStatus>>(),
                   .reason = row.take<std::string>(),
                   .issued_at = row.take<WallMillis>(),
                   .ended_at = row.take<std::optional<WallMillis>>().value_or(0),
                   .iterations_per_sample = row.take<std::optional<std::int64_t>>(),
                   .machine = row.take<std::optional<Id>>(),
                   .machine_class = take_class(row),
                   .node = row.take<std::string>(),
                   .is_thinned = row.take<int>() != 0};
}

Status add_values(Connection& connection, RunDetail& run) {
  Query query(connection, "SELECT metric, value FROM value WHERE attempt_id = ?", run.attempt);
  while (query.next()) {
    const auto metric = query.take<Metric>();
    run.values[metric] = query.take<std::int64_t>();
  }
  if (query.damage()) return fail(*query.damage());
  return {};
}

MachineRow machine_of(Query& row) {
  return MachineRow{.id = row.take<Id>(),
                    .facts = facts_in(row.take<std::string>()),
                    .runs = row.take<std::int64_t>(),
                    .first_run_at = row.take<std::optional<WallMillis>>().value_or(0),
                    .last_run_at = row.take<std::optional<WallMillis>>().value_or(0),
                    .machine_class = take_class(row)};
}

SampleSet set_of(const ThinnedSamples& kept) {
  return {.kind = kept.kind,
          .digest = kept.digest,
          .count = kept.count,
          .is_thinned = true,
          .median = kept.median,
          .spread = kept.spread};
}

void summarise(SampleSet& set) {
  set.count = static_cast<std::int64_t>(set.samples.size());
  if (set.samples.empty()) return;
  const auto summary = summary_of(set.samples);
  set.median = summary.median;
  set.spread = summary.spread;
}

}  // namespace

std::map<std::string, std::string> facts_in(const std::string& lines) {
  std::map<std::string, std::string> facts;
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) {
    const auto colon = line.find(": ");
    if (colon != std::string::npos) facts[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return facts;
}

Result<std::vector<RunDetail>> RunReader::list(Owner owner, const RunFilter& filter, int limit,
                                               Id before) {
  return read(database_, [&](Connection& connection) -> Result<std::vector<RunDetail>> {
    TW_TRY(auto runs,
           all_rows(Query(connection,
                          kRuns + "WHERE " + owner_column(owner.kind) +
                              " = ?1 AND attempt.id < ?2 AND workload = ifnull(?4, workload) "
                              "AND configuration = ifnull(?5, configuration) "
                              "AND variant = ifnull(?6, variant) AND pass = ifnull(?7, pass) "
                              "AND attempt.state = ifnull(?8, attempt.state) "
                              "ORDER BY attempt.id DESC LIMIT ?3",
                          owner.id, before, limit, filter.workload, filter.configuration,
                          filter.variant, filter.pass, filter.state),
                    run_of));
    for (auto& run : runs) TW_TRY_VOID(add_values(connection, run));
    return runs;
  });
}

Result<RunDetail> RunReader::get(Id attempt) {
  return read(database_, [&](Connection& connection) -> Result<RunDetail> {
    TW_TRY(auto run, one_row(Query(connection, kRuns + "WHERE attempt.id = ?", attempt), run_of,
                             "run " + std::to_string(attempt)));
    TW_TRY_VOID(add_values(connection, run));
    return run;
  });
}

Result<ValuesOfRuns> RunReader::values_of(const std::vector<Id>& runs) {
  return read(database_, [&](Connection& connection) -> Result<ValuesOfRuns> {
    Query query(connection,
                "SELECT metric, attempt_id, value.value FROM json_each(?) AS wanted "
                "JOIN value ON attempt_id = wanted.value",
                runs);
    ValuesOfRuns values;
    while (query.next()) {
      const auto metric = query.take<Metric>();
      const auto run = query.take<Id>();
      values[metric][run] = query.take<std::int64_t>();
    }
    if (query.damage()) return fail(*query.damage());
    return values;
  });
}

Result<std::string> RunReader::output_of(Owner owner, Id build, const Benchmark& benchmark) {
  return read(database_, [&](Connection& connection) -> Result<std::string> {
    Query outputs(
        connection,
        "SELECT output FROM attempt JOIN benchmark ON benchmark.id = benchmark_id WHERE " +
            owner_column(owner.kind) +
            " = ? AND build_id = ? AND workload = ? AND configuration = ? "
            "AND variant = ? AND attempt.state = 'failed' ORDER BY attempt.id DESC",
        owner.id, build, benchmark.workload, to_string(benchmark.configuration),
        to_string(benchmark.variant));
    while (outputs.next()) {
      auto output = outputs.take<std::string>();
      if (!output.empty()) return output;
    }
    return std::string();
  });
}

Result<std::vector<SampleSet>> RunReader::samples_of(Id attempt) {
  return read(database_, [&](Connection& connection) -> Result<std::vector<SampleSet>> {
    std::vector<SampleSet> sets;
    TW_TRY(const auto thinned, thinned_samples_of(database_, attempt));
    std::ranges::transform(thinned, std::back_inserter(sets), set_of);
    Query stored(connection, "SELECT kind, digest FROM sample WHERE attempt_id = ?", attempt);
    while (stored.next()) {
      SampleSet set{.kind = stored.take<std::string>(), .digest = stored.take<std::string>()};
      TW_TRY(set.samples, load_samples(connection, attempt, set.kind.c_str()));
      summarise(set);
      sets.push_back(std::move(set));
    }
    std::ranges::sort(sets, {}, &SampleSet::kind);
    return sets;
  });
}

Result<std::vector<MachineRow>> RunReader::machines() {
  return read(database_, [](Connection& connection) {
    return all_rows(Query(connection, kMachines + "ORDER BY machine.id DESC"), machine_of);
  });
}

Result<MachineRow> RunReader::machine(Id id) {
  return read(database_, [&](Connection& connection) {
    return one_row(Query(connection, kMachines + "WHERE machine.id = ?", id), machine_of,
                   "machine " + std::to_string(id));
  });
}

}  // namespace torchwatch::storage
