#include "torchwatch/storage/study_store.hpp"

#include <catch2/catch.hpp>

#include "raw_sql.hpp"
#include "stores.hpp"
#include "torchwatch/runs/class_values.hpp"
#include "torchwatch/runs/evidence_reader.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

const StudyRow kThreads{.name = "threads", .baseline = "threads=1", .candidate = "threads=2"};

/// A run of a comparison that has a result.
void store_run(Stores& stores, const ComparisonRow& comparison, const std::string& token) {
  REQUIRE(stores.runs.issue(order_of(comparison, token), token, 1));
  auto result = full_result(token);
  result.environment.facts["cpu_model"] = "Model X";
  REQUIRE(stores.runs.record({{token, result}}, 2));
}

}  // namespace

TEST_CASE_METHOD(FreshStores, "a study keeps the settings of both its sides") {
  const auto build = ready_build(stores.builds, "n1", "h1");
  StudyStore studies(*stores.database);
  const auto opened = studies.open(build.id, "{}", kThreads, 5).value();
  CHECK(opened.purpose == Purpose::study);
  CHECK(opened.baseline == build.id);
  CHECK(opened.candidate == build.id);
  CHECK_FALSE(opened.opens_incidents);
  CHECK(studies.find(opened.id).value() == kThreads);
  const auto again = studies.open(build.id, "{}", kThreads, 6).value();
  CHECK(again.id != opened.id);
  CHECK(again.repetition == 1);
  const auto other = comparison_of_two(stores);
  CHECK(studies.find(other.id).value() == std::nullopt);
  CHECK(stores.database->check_invariants().value().empty());
}

TEST_CASE_METHOD(FreshStores, "a study of equal or missing settings is not stored") {
  const auto build = ready_build(stores.builds, "n1", "h1");
  StudyStore studies(*stores.database);
  for (const auto& wrong : {StudyRow{.baseline = "default", .candidate = "default"},
                            StudyRow{.baseline = "", .candidate = "threads=2"},
                            StudyRow{.baseline = "threads=2", .candidate = ""}}) {
    const auto refused = studies.open(build.id, "{}", wrong, 5);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid);
  }
  CHECK(stores.comparisons.list(10).value().empty());
}

TEST_CASE_METHOD(FreshStores, "the runs of a study belong to no history, no series and no class") {
  const auto build = ready_build(stores.builds, "n1", "h1");
  const auto study = StudyStore(*stores.database).open(build.id, "{}", kThreads, 5).value();
  store_run(stores, study, "t1");
  CHECK(stores.runs.runs_of({OwnerKind::comparison, study.id}).value().size() == 1);
  CHECK(stores.runs.all_series().value().empty());
  CHECK(stores.runs.history(kTime, 10).value().empty());
  CHECK(stores.runs.usual_seconds().value().empty());
  CHECK(values_by_class(*stores.database, build.id, Metric::time).value().empty());

  // The same build, measured by a comparison of another purpose.
  const auto asked = stores.comparisons.open({Purpose::requested, build.id, build.id}, 7).value();
  store_run(stores, asked, "t2");
  store_run(stores, study, "t3");
  CHECK_FALSE(stores.runs.all_series().value().empty());
  CHECK(stores.runs.history(kTime, 10).value().size() == 1);
  CHECK(stores.runs.usual_seconds().value().size() == 1);
  const auto by_class = values_by_class(*stores.database, build.id, Metric::time).value();
  REQUIRE(by_class.size() == 1);
  CHECK(by_class.front().values.size() == 1);
}

TEST_CASE_METHOD(FreshStores,
                 "a study without its settings, and settings without a study, are seen") {
  const auto build = ready_build(stores.builds, "n1", "h1");
  const auto study = StudyStore(*stores.database).open(build.id, "{}", kThreads, 5).value();
  const auto other = comparison_of_two(stores);
  test::raw_sql(path, "UPDATE study SET comparison_id = " + std::to_string(other.id) +
                          " WHERE comparison_id = " + std::to_string(study.id));
  const auto breaches = stores.database->check_invariants().value();
  REQUIRE(breaches.size() == 1);
  CHECK(breaches.front().invariant == "study_has_its_settings");
}
