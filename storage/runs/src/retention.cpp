#include "torchwatch/runs/retention.hpp"

#include "query.hpp"
#include "samples.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

struct StoredSamples {
  Id attempt = 0;
  std::string kind;
  std::string bytes;
  std::string digest;
};

StoredSamples samples_of(Query& row) {
  return {row.take<Id>(), row.take<std::string>(), row.take<std::string>(),
          row.take<std::string>()};
}

Id id_of(Query& row) {
  return row.take<Id>();
}

ThinnedSamples thinned(const StoredSamples& stored) {
  const auto samples = decode_samples(stored.bytes);
  const auto summary = summary_of(samples);
  return {.kind = stored.kind,
          .count = static_cast<std::int64_t>(samples.size()),
          .median = summary.median,
          .spread = summary.spread,
          .digest = stored.digest};
}

/// The samples of benchmarks of which nothing changed. Self-tests say how often the service is
/// wrong, rechecks belong to incidents, measurements have no verdict: theirs stay. Those of any
/// other purpose go.
Result<std::vector<StoredSamples>> samples_to_thin(Connection& connection, Id comparison) {
  return all_rows(
      Query(connection,
            "SELECT sample.attempt_id, sample.kind, data, digest FROM attempt "
            "JOIN sample ON sample.attempt_id = attempt.id "
            "JOIN comparison ON comparison.id = attempt.comparison_id "
            "WHERE attempt.comparison_id = ? "
            "AND purpose NOT IN ('recheck', 'self_test', 'measurement') AND length(data) > 0 "
            "AND EXISTS (SELECT 1 FROM verdict WHERE verdict.comparison_id = comparison.id "
            "AND verdict.benchmark_id = attempt.benchmark_id) "
            "AND NOT EXISTS (SELECT 1 FROM verdict WHERE verdict.comparison_id = comparison.id "
            "AND verdict.benchmark_id = attempt.benchmark_id AND verdict <> 'unchanged')",
            comparison),
      samples_of);
}

/// Damaged samples stay: a wrong median would hide that they are.
void thin(Connection& connection, const StoredSamples& stored) {
  if (digest::sha256_hex(stored.bytes) != stored.digest) return;
  const auto kept = thinned(stored);
  execute(connection,
          "INSERT INTO thinned_sample (attempt_id, kind, count, median, spread, digest) "
          "VALUES (?, ?, ?, ?, ?, ?)",
          stored.attempt, kept.kind, kept.count, kept.median, kept.spread, kept.digest);
  execute(connection, "DELETE FROM sample WHERE attempt_id = ? AND kind = ?", stored.attempt,
          stored.kind);
}

ThinnedSamples thinned_of(Query& row) {
  return {row.take<std::string>(), row.take<std::int64_t>(), row.take<std::int64_t>(),
          row.take<std::int64_t>(), row.take<std::string>()};
}

}  // namespace

Result<bool> thin_oldest_comparison(Database& database, WallMillis ended_before) {
  return write(database, [&](Connection& connection) -> Result<bool> {
    TW_TRY(const auto oldest,
           first_row(Query(connection,
                           "SELECT id FROM comparison WHERE ended_at IS NOT NULL "
                           "AND samples_thinned = 0 AND ended_at < ? ORDER BY ended_at LIMIT 1",
                           ended_before),
                     id_of));
    if (!oldest) return false;
    TW_TRY(const auto all, samples_to_thin(connection, *oldest));
    for (const auto& samples : all) thin(connection, samples);
    execute(connection,
            "DELETE FROM workload_output WHERE attempt_id IN "
            "(SELECT id FROM attempt WHERE comparison_id = ?)",
            *oldest);
    execute(connection, "UPDATE comparison SET samples_thinned = 1 WHERE id = ?", *oldest);
    return true;
  });
}

Result<int> remove_outputs(Database& database, WallMillis ended_before) {
  return write(database, [&](Connection& connection) -> Result<int> {
    return execute(connection, "UPDATE attempt SET output = '' WHERE output <> '' AND ended_at < ?",
                   ended_before);
  });
}

Result<std::vector<ThinnedSamples>> thinned_samples_of(Database& database, Id attempt) {
  return read(database, [&](Connection& connection) {
    return all_rows(Query(connection,
                          "SELECT kind, count, median, spread, digest FROM thinned_sample "
                          "WHERE attempt_id = ? ORDER BY kind",
                          attempt),
                    thinned_of);
  });
}

}  // namespace torchwatch::storage
