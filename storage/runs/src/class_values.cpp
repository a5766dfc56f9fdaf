#include "torchwatch/runs/class_values.hpp"

#include "benchmarks.hpp"
#include "conditions.hpp"
#include "facts_text.hpp"
#include "transaction.hpp"
#include "words.hpp"

namespace torchwatch::storage {
namespace {

MachineClass class_in(Query& row) {
  return {row.take<Id>(), row.take<std::string>(), facts_in(row.take<std::string>())};
}

}  // namespace

Result<std::vector<MachineClass>> machine_classes(Database& database) {
  return read(database, [](Connection& connection) {
    return all_rows(Query(connection, "SELECT id, name, facts FROM machine_class ORDER BY id"),
                    class_in);
  });
}

Result<std::vector<ClassValues>> values_by_class(Database& database, Id build, Metric metric) {
  return read(database, [&](Connection& connection) -> Result<std::vector<ClassValues>> {
    Query query(connection,
                std::string("SELECT ") + kBenchmarkColumns +
                    ", class_id, value.value FROM attempt "
                    "JOIN benchmark ON benchmark.id = attempt.benchmark_id "
                    "JOIN value ON value.attempt_id = attempt.id AND metric = ? "
                    "JOIN result ON result.attempt_id = attempt.id "
                    "JOIN environment ON environment.id = environment_id "
                    "JOIN machine ON machine.id = machine_id "
                    "WHERE build_id = ? AND class_id IS NOT NULL AND " +
                    kOfSeries + "ORDER BY attempt.benchmark_id, class_id, attempt.id DESC",
                metric, build);
    std::vector<ClassValues> all;
    while (query.next()) {
      auto benchmark = take_benchmark(query);
      const auto of_class = query.take<Id>();
      const bool is_new =
          all.empty() || all.back().benchmark != benchmark || all.back().machine_class != of_class;
      if (is_new) all.push_back({std::move(benchmark), of_class});
      all.back().values.push_back(query.take<std::int64_t>());
    }
    if (query.damage()) return fail(*query.damage());
    return all;
  });
}

}  // namespace torchwatch::storage
