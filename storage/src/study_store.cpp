#include "torchwatch/storage/study_store.hpp"

#include "query.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

StudyRow row_of(Query& row) {
  return StudyRow{.name = row.take<std::string>(),
                  .baseline = row.take<std::string>(),
                  .candidate = row.take<std::string>()};
}

}  // namespace

Result<ComparisonRow> StudyStore::open(Id build, const std::string& plan_json,
                                       const StudyRow& study, WallMillis now) {
  if (study.baseline.empty() || study.candidate.empty() || study.baseline == study.candidate) {
    return fail(ErrorCode::invalid, "both settings of a study must be named and must differ");
  }
  return write(database_, [&](Connection& connection) -> Result<ComparisonRow> {
    TW_TRY(auto row, ComparisonStore(database_).open({.purpose = Purpose::study,
                                                      .candidate = build,
                                                      .baseline = build,
                                                      .plan_json = plan_json},
                                                     now));
    execute(connection,
            "INSERT INTO study (comparison_id, name, baseline, candidate) VALUES (?, ?, ?, ?)",
            row.id, study.name, study.baseline, study.candidate);
    return row;
  });
}

Result<std::optional<StudyRow>> StudyStore::find(Id comparison) {
  return read(database_, [&](Connection& connection) {
    return first_row(
        Query(connection, "SELECT name, baseline, candidate FROM study WHERE comparison_id = ?",
              comparison),
        row_of);
  });
}

}  // namespace torchwatch::storage
