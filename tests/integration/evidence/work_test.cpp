#include "torchwatch/evidence/work.hpp"

#include <catch2/catch.hpp>

#include "evidence_rows.hpp"
#include "torchwatch/documents/plan.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/setback_store.hpp"

using namespace torchwatch;
using comparison::Stage;
using storage::ComparisonState;
using storage::ItemKind;
using storage::Purpose;

namespace {

const Series kTime = series_of("resnet18");

struct Working : EvidenceRows {
  Id baseline = add_build("2.14.0.dev20260816");
  Id candidate = add_build("2.14.0.dev20260817");

  storage::ComparisonStore comparisons() const { return storage::ComparisonStore(*database); }

  /// A self-test that took that long, in milliseconds, from its first run on.
  void add_ended(storage::WallMillis took) {
    const auto row = add_comparison(baseline, baseline, now, Purpose::self_test);
    const auto first_run_at = now + 1;
    add_block(row, kTime.benchmark, Stage::screen);
    REQUIRE(comparisons().advance(row, ComparisonState::reported, first_run_at + took));
  }
};

}  // namespace

TEST_CASE("progress counts the runs of a comparison, and names those in flight") {
  Working rows;
  auto row = rows.add_comparison(rows.candidate, rows.baseline);
  comparison::Plan plan;
  plan.benchmarks = {kTime.benchmark, series_of("alexnet").benchmark};
  row = rows.comparisons().set_plan(row, to_json(plan)).value();
  rows.add_block(row, kTime.benchmark, Stage::screen);
  storage::RunStore runs(*rows.database);
  const auto issued = runs.issue({.owner = {storage::OwnerKind::comparison, row.id},
                                  .slot = "timing/alexnet cpu-train/screen/0/0",
                                  .build = rows.baseline,
                                  .benchmark = series_of("alexnet").benchmark},
                                 "in flight", 5'000)
                          .value();
  const auto progress = evidence::progress_of(*rows.database, row, 6'000).value();
  CHECK(progress.benchmarks_planned == 2);
  CHECK(progress.benchmarks_begun == 2);
  CHECK(progress.runs_done == 4);
  CHECK(progress.runs_failed == 0);
  CHECK(progress.first_run_at == 1'001);
  CHECK(progress.confirm_began_at == 0);
  CHECK(progress.last_run_at == 1'008);
  REQUIRE(progress.running.size() == 1);
  CHECK(progress.running[0].run == issued);
  CHECK(progress.running[0].benchmark.workload == "alexnet");
  CHECK(progress.running[0].since == 5'000);
  CHECK_FALSE(progress.left);
  rows.add_block(row, kTime.benchmark, Stage::confirm);
  const auto later = evidence::progress_of(*rows.database, row, 6'000).value();
  CHECK(later.confirm_began_at == 1'009);
}

TEST_CASE("what is left of a comparison follows from how long such ones took") {
  Working rows;
  for (const auto took : {60'000, 90'000, 120'000}) rows.add_ended(took);
  const auto row = rows.add_comparison(rows.baseline, rows.baseline, rows.now, Purpose::self_test);
  const auto before = evidence::progress_of(*rows.database, row, rows.now).value();
  REQUIRE(before.left);
  CHECK(before.left->likely == Approx(90));
  CHECK(before.left->at_most == Approx(120));
  const auto first_run_at = rows.now + 1;
  rows.add_block(row, kTime.benchmark, Stage::screen);
  const auto begun = evidence::progress_of(*rows.database, row, first_run_at + 100'000).value();
  REQUIRE(begun.left);
  CHECK(begun.left->likely == 0);
  CHECK(begun.left->at_most == Approx(20));
}

TEST_CASE("a comparison without a run is at its beginning") {
  Working rows;
  const auto row = rows.add_comparison(rows.candidate, rows.baseline);
  const auto progress = evidence::progress_of(*rows.database, row, 1).value();
  CHECK(progress.first_run_at == 0);
  CHECK(progress.last_run_at == 0);
  CHECK(progress.benchmarks_planned == 0);
}

TEST_CASE("the current comparison is the one at work, else the next nightly, else the oldest") {
  Working rows;
  CHECK_FALSE(evidence::current_comparison(*rows.database, {}).value());
  const auto test = rows.add_comparison(rows.baseline, rows.baseline, 1, Purpose::self_test);
  CHECK(evidence::current_comparison(*rows.database, {}).value()->id == test.id);
  const auto nightly = rows.add_comparison(rows.candidate, rows.baseline);
  CHECK(evidence::current_comparison(*rows.database, {}).value()->id == nightly.id);
  CHECK(evidence::current_comparison(*rows.database, test.id).value()->id == test.id);
}

TEST_CASE("the queue stands in the order in which the daemon turns to it") {
  Working rows;
  auto& database = *rows.database;
  storage::BisectionRow search;
  search.good = "aaaa";
  search.bad = "bbbb";
  search.created_at = 1;
  REQUIRE(storage::BisectionStore(database).open(search));
  rows.add_comparison(rows.candidate, rows.baseline, 1, Purpose::requested);
  rows.add_comparison(rows.baseline, rows.baseline, 1, Purpose::self_test);
  rows.add_comparison(rows.candidate, rows.baseline);
  storage::RequestStore requests(database);
  REQUIRE(requests.receive("first", storage::RequestKind::nightly, R"({"candidate": "b"})", 1));
  REQUIRE(requests.receive("second", storage::RequestKind::nightly, R"({"now": true})", 1));
  const auto queue = evidence::queue_of(database).value();
  std::vector<std::pair<ItemKind, storage::Id>> order;
  for (const auto& item : queue) order.emplace_back(item.kind, item.id);
  CHECK(order == std::vector<std::pair<ItemKind, storage::Id>>{{ItemKind::request, 2},
                                                               {ItemKind::comparison, 3},
                                                               {ItemKind::comparison, 2},
                                                               {ItemKind::request, 1},
                                                               {ItemKind::comparison, 1},
                                                               {ItemKind::bisection, 1}});
  CHECK(queue[2].what == "self_test");
  CHECK(queue[3].what == "comparison");
}

TEST_CASE("what was put off says what it waits for") {
  Working rows;
  const auto row = rows.add_comparison(rows.candidate, rows.baseline);
  REQUIRE(storage::SetbackStore(*rows.database)
              .record({.key = {ItemKind::comparison, std::to_string(row.id)},
                       .not_before = 7'000,
                       .error = "no network"}));
  const auto queue = evidence::queue_of(*rows.database).value();
  REQUIRE(queue.size() == 1);
  REQUIRE(queue[0].setback);
  CHECK(queue[0].setback->not_before == 7'000);
}

TEST_CASE("audits have the self-tests of each metric") {
  Working rows;
  const auto row = rows.add_comparison(rows.baseline, rows.baseline, 1, Purpose::self_test);
  rows.add_verdict(row.id, kTime, Verdict::regressed, 1.1);
  const auto audits = evidence::audits_of(*rows.database).value();
  REQUIRE(audits.self_tests.size() == 1);
  CHECK(audits.self_tests[0].regressed == 1);
  CHECK(audits.culprits.named == 0);
}
