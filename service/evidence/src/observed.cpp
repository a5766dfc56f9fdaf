#include "torchwatch/evidence/observed.hpp"

#include <cstdint>
#include <utility>

#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::evidence {
namespace {

/// The newest build before that one that was measured in the pass.
Result<std::optional<storage::BuildRow>> observed_before(storage::Id build, Pass pass,
                                                         storage::Database& database) {
  TW_TRY(const auto id, storage::EvidenceReader(database).observed_before(pass, build));
  if (!id) return std::nullopt;
  TW_TRY(auto row, storage::BuildStore(database).get(*id));
  return std::optional(std::move(row));
}

}  // namespace

Result<ObservedBuilds> observed_builds(storage::Database& database, Pass pass,
                                       std::optional<storage::BuildRow> named) {
  ObservedBuilds builds{.build = std::move(named)};
  if (!builds.build) {
    TW_TRY(builds.build, observed_before(INT64_MAX, pass, database));
  }
  if (builds.build) {
    TW_TRY(builds.before, observed_before(builds.build->id, pass, database));
    return builds;
  }
  TW_TRY(const auto newest, report::newest_nightly(database));
  const auto& nightly = newest.judged ? newest.judged : newest.known;
  if (!nightly) return builds;
  storage::BuildStore store(database);
  TW_TRY(builds.build, store.get(nightly->candidate));
  if (nightly->baseline) {
    TW_TRY(builds.before, store.get(*nightly->baseline));
  }
  return builds;
}

}  // namespace torchwatch::evidence
