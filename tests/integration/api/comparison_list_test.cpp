// What lists of comparisons say beside the verdicts, and what the page of a series says of its
// noise.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "page_checks.hpp"
#include "raw_sql.hpp"
#include "torchwatch/documents/block.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

const std::string kPath = "/series/resnet18/cpu-train/default/time";

Benchmark benchmark_of(const std::string& workload) {
  return {workload, {Device::cpu, Mode::train}, {}};
}

/// After the nightly of `fill` one that lacks two of its benchmarks, and self-tests.
struct Lists : Api {
  Lists() {
    fill();
    for (const auto* workload : {"alexnet", "dlrm"}) judge(1, workload, Verdict::unchanged);
    add_builds(2);
    next = comparisons.open({Purpose::nightly, 3, 2}, clock.wall_now()).value();
    judge(next.id, "resnet18", Verdict::unchanged);
    judge(next.id, "alexnet", Verdict::failed);
    judge(next.id, "vgg16", Verdict::unchanged);
  }

  void judge(Id comparison, const std::string& workload, Verdict verdict) {
    VerdictRow row;
    row.comparison = comparison;
    row.series = {benchmark_of(workload), Metric::time};
    row.verdict = verdict;
    row.ratio = verdict == Verdict::failed ? 0 : 1;
    REQUIRE(comparisons.add_verdict(row));
  }

  /// Opens that many newer self-tests.
  void bury(int count) {
    REQUIRE(database->transact([&]() -> Status {
      for (int i = 0; i < count; ++i) {
        TW_TRY_VOID(comparisons.open({Purpose::self_test, 1, 1}, clock.wall_now()));
      }
      return {};
    }));
  }

  /// Measures that many blocks of resnet18 in the newest nightly; all values are alike.
  void add_blocks(int count) {
    RunStore runs(*database);
    for (int i = 0; i < count * comparison::Block::kRuns; ++i) {
      const comparison::Block block{.benchmark = benchmark_of("resnet18"),
                                    .index = i / comparison::Block::kRuns};
      const auto slot = block.slot(i % comparison::Block::kRuns);
      REQUIRE(runs.issue({.owner = {OwnerKind::comparison, next.id},
                          .slot = slot,
                          .build = next.candidate,
                          .benchmark = block.benchmark},
                         slot, kBegin + i));
      RunResult result;
      result.attempt = slot;
      result.samples_ns = {30};
      result.values = {{Metric::time, 30}};
      result.environment.facts = {{"cpu_model", "Model X"}, {"cpus", "2"}, {"heap", "mapped"}};
      REQUIRE(runs.record({{slot, result}}, kBegin + i));
    }
  }

  Id add_self_test_of(Id build, Verdict verdict) {
    const auto row = comparisons.open({Purpose::self_test, build, build}, clock.wall_now()).value();
    judge(row.id, "resnet18", verdict);
    judge(row.id, "alexnet", Verdict::unchanged);
    return row.id;
  }

  /// Ends the newest nightly an hour after its first run began.
  void end() {
    constexpr WallMillis kHour = 3'600'000;
    add_run(next, kBegin);
    add_run(next, kBegin + 1);
    REQUIRE(comparisons.cancel(next.id, "enough", kBegin + kHour));
  }

  /// The entry of a comparison in the API's list of all.
  nlohmann::json entry(Id id) {
    const auto all = get("/api/v1/comparisons").body;
    for (const auto& each : all.at("comparisons")) {
      if (each.at("id") == id) return each;
    }
    FAIL("comparison " << id << " is not listed");
    return nullptr;
  }

  /// Checks that lists say so of the second comparison, and still name the first.
  void check_second_is_unread(const std::string& says) {
    const auto list = page("/comparisons");
    CHECK(wrong_tag(list) == "");
    CHECK_THAT(list, Contains(says));
    CHECK_THAT(get("/comparisons.csv").text,
               Contains("2,comparison 2,") && Contains(says) &&
                   Contains("1,2.14.0.dev20260817 against 2.14.0.dev20260816,"));
  }

  nlohmann::json listed(Id id) { return get("/api/v1/comparisons/" + std::to_string(id)).body; }

  static constexpr WallMillis kBegin = 1'786'000'000'000;
  ComparisonStore comparisons{*database};
  ComparisonRow next;
};

}  // namespace

TEST_CASE("a list says how many benchmarks of the nightly before a nightly lost") {
  Lists api;
  CHECK(api.listed(2).at("benchmarks_lost") == 2);
  CHECK(api.listed(1).at("benchmarks_lost").is_null());
  CHECK_THAT(api.get("/comparisons.csv").text, Contains("benchmarks lost"));
  const auto page = api.page("/comparisons");
  CHECK(wrong_tag(page) == "");
  CHECK_THAT(page, Contains("benchmarks lost"));
  // What is not judged yet has lost nothing.
  api.comparisons.open({Purpose::nightly, 4, 3}, api.clock.wall_now()).value();
  CHECK(api.listed(3).at("benchmarks_lost").is_null());
}

TEST_CASE("a list says how long a comparison took from its first run to its end") {
  Lists api;
  CHECK(api.listed(2).at("seconds").is_null());
  api.end();
  CHECK(api.listed(2).at("seconds") == 3600);
  CHECK_THAT(api.page("/comparisons"), Contains(">1 h 0 min<"));
  CHECK_THAT(api.get("/comparisons.csv").text, Contains(",1 h"));
}

TEST_CASE("a list leads to the self-test of a nightly's build, else to the newest before it") {
  Lists api;
  CHECK(api.listed(2).at("self_test").is_null());
  const auto first = api.add_self_test_of(3, Verdict::regressed);
  const auto found = api.listed(2).at("self_test");
  CHECK(found.at("comparison") == first);
  CHECK(found.at("series") == 2);
  CHECK(found.at("regressed") == 1);
  CHECK(api.listed(first).at("self_test").is_null());
  CHECK(api.listed(1).at("self_test").is_null());  // it is of another build, and later
  const auto page = api.page("/comparisons");
  CHECK_THAT(page, Contains("1 of 2</a>"));
  const auto later = api.comparisons.open({Purpose::nightly, 4, 3}, api.clock.wall_now()).value();
  CHECK(api.listed(later.id).at("self_test").at("comparison") == first);
}

TEST_CASE("a list says of every comparison what is said of it alone") {
  Lists api;
  api.end();
  api.add_self_test_of(3, Verdict::regressed);
  REQUIRE(api.comparisons.open({Purpose::nightly, 4, 3}, api.clock.wall_now()));
  const auto all = api.get("/api/v1/comparisons").body.at("comparisons");
  REQUIRE(all.size() == 4);
  for (const auto& entry : all) {
    CHECK(entry.at("unread").is_null());
    auto alone = api.listed(entry.at("id"));
    for (const auto* more : {"runs_url", "summary", "verdicts"}) alone.erase(more);
    CHECK(entry == alone);
  }
  auto pages = api.get("/api/v1/comparisons?limit=3").body;
  CHECK(pages.at("comparisons").size() == 3);
  CHECK(pages.at("next") == 2);
  pages = api.get("/api/v1/comparisons?limit=3&before=2").body;
  CHECK(pages.at("comparisons").at(0) == all.at(3));
  CHECK(pages.at("next").is_null());
}

TEST_CASE("a build that cannot be read stops only what names it in the lists") {
  Lists api;
  test::raw_sql(api.database_path, "UPDATE build SET origin = 'nihgtly' WHERE id = 3");
  const std::string says = "its candidate cannot be read: if that lasts, restore a backup";
  api.check_second_is_unread(says);
  CHECK_THAT(api.get("/comparisons.md").text, Contains(says));
  const auto spoilt = api.entry(2);
  CHECK(spoilt.at("candidate").is_null());
  CHECK(spoilt.at("baseline").at("id") == 2);
  CHECK(spoilt.at("benchmarks_lost") == 2);
  CHECK(spoilt.at("unread") == says);
  CHECK(api.entry(1).at("unread").is_null());
  CHECK(api.get("/comparisons.json").body == api.get("/api/v1/comparisons").body);
}

TEST_CASE("verdicts that cannot be read stop only what is counted of them") {
  Lists api;
  api.end();
  const auto self_test = api.add_self_test_of(3, Verdict::regressed);
  test::raw_sql(api.database_path,
                "UPDATE verdict SET verdict = 'regresed' WHERE comparison_id = " +
                    std::to_string(self_test) + " AND verdict = 'regressed'");
  const auto page = api.page("/comparisons");
  CHECK_THAT(page,
             Contains("its verdicts cannot be read: ") && Contains(" near it cannot be read: "));
  CHECK_THAT(page, Contains(">1 h 0 min<") && Contains("benchmarks lost"));
  CHECK_THAT(api.get("/comparisons.md").text, Contains("the self-test near it cannot be read"));
  const auto beside = api.entry(2);
  CHECK(beside.at("self_test").is_null());
  CHECK(beside.at("seconds") == 3600);
  CHECK_THAT(beside.at("unread").get<std::string>(), Contains("the self-test near it"));
  CHECK_THAT(api.entry(self_test).at("unread").get<std::string>(), Contains("its verdicts"));
  CHECK_THAT(api.page("/"), Contains("its verdicts cannot be read: "));
}

TEST_CASE("a comparison that cannot be read itself keeps no other from the list") {
  Lists api;
  test::raw_sql(api.database_path, "UPDATE comparison SET purpose = 'nightyl' WHERE id = 2");
  const std::string says = "it cannot be read: if that lasts, restore a backup";
  api.check_second_is_unread(says);
  const auto spoilt = api.entry(2);
  CHECK(spoilt.at("unread") == says);
  CHECK(spoilt.at("purpose").is_null());
  CHECK(api.entry(1).at("unread").is_null());
  // Nobody knows whether a filter admits it.
  CHECK(api.get("/api/v1/comparisons?purpose=nightly").body.at("comparisons").size() == 1);
  CHECK_THAT(api.page("/comparisons?purpose=nightly"), !Contains("comparison 2"));
  CHECK(api.get("/api/v1/comparisons/2").status == 500);
}

TEST_CASE("filters of the list keep its columns") {
  Lists api;
  api.add_self_test_of(3, Verdict::unchanged);
  const auto csv = api.get("/comparisons.csv?purpose=nightly").text;
  CHECK_THAT(csv, Contains("self-test: called changed") && Contains("0 of 2"));
  CHECK_THAT(csv, !Contains(",self_test,"));
  CHECK_THAT(api.get("/comparisons.md?purpose=nightly").text, Contains("0 of 2"));
}

TEST_CASE("small pictures of one configuration stand below the heat map, and others are a choice") {
  Lists api;
  VerdictRow infer;
  infer.comparison = 1;
  infer.series = {{"resnet18", {Device::cpu, Mode::infer}, {}}, Metric::time};
  infer.ratio = 1;
  infer.verdict = Verdict::unchanged;
  REQUIRE(api.comparisons.add_verdict(infer));
  const auto page = api.page("/comparisons/1");
  CHECK(page.find("id=\"map\"") < page.find("id=\"pasts\""));
  CHECK_THAT(page, Contains("cpu-train: the past of each model"));
  CHECK_THAT(page, Contains("?configuration=cpu-infer"));
  CHECK_THAT(api.page("/comparisons/1?configuration=cpu-infer"),
             Contains("cpu-infer: the past of each model"));
  CHECK(api.get("/comparisons/1?configuration=cuda-train").status == 404);
  CHECK_THAT(api.get("/comparisons/1.md").text, Contains("cpu-train: the past of each model"));
}

TEST_CASE("the page of a series says how noisy it is, and what drift is judged against") {
  Lists api;
  CHECK_THAT(api.page(kPath), Contains("not known: too few pairs of runs yet"));
  CHECK(api.get("/api/v1" + kPath).body.at("noise").is_null());
  CHECK(api.get("/api/v1" + kPath).body.at("drift_reference").is_null());
  api.add_blocks(4);
  const auto noise = api.get("/api/v1" + kPath).body.at("noise");
  CHECK(noise.at("pairs") == 8);
  CHECK(noise.at("spread") == 0);
  CHECK(noise.at("minimum_detectable_effect") > 0);
  CHECK_THAT(api.page(kPath), Contains("minimum detectable effect") && Contains("8 pairs"));

  const NewComparison with_older{
      .purpose = Purpose::drift, .candidate = 3, .baseline = 1, .nightlies_back = 2};
  const auto drift = api.comparisons.open(with_older, api.clock.wall_now()).value();
  VerdictRow verdict;
  verdict.comparison = drift.id;
  verdict.series = {benchmark_of("resnet18"), Metric::time};
  verdict.ratio = 1.04;
  verdict.baseline_value = 2e6;
  verdict.candidate_value = 2.08e6;
  REQUIRE(api.comparisons.add_verdict(verdict));
  const auto reference = api.get("/api/v1" + kPath).body.at("drift_reference");
  CHECK(reference.at("build") == "2.14.0.dev20260816");
  CHECK(reference.at("value") == 2e6);
  CHECK(reference.at("url") == "/api/v1/comparisons/" + std::to_string(drift.id));
  for (const auto* shown : {"", "?show=logarithmic"}) {
    const auto page = api.page(kPath + shown);
    CHECK(wrong_tag(page) == "");
    CHECK_THAT(page, Contains("drift: reference 2.14.0.dev20260816"));
    CHECK_THAT(page, Contains("data-value=\"drift\""));
  }
  CHECK_THAT(api.page(kPath + "?show=changes"), !Contains("drift: reference"));
}

TEST_CASE(
    "what is older than a thousand others is still in its list, and on the page of its pair") {
  Lists api;
  for (int i = 0; i < 2; ++i) {
    REQUIRE(api.comparisons.open({Purpose::requested, 2, 1}, api.clock.wall_now()));
  }
  api.bury(1'100);
  const auto first = api.page("/comparisons?purpose=requested&limit=1");
  CHECK_THAT(first, Contains("href=\"comparisons/4\"") && !Contains("href=\"comparisons/3\""));
  CHECK_THAT(first, Contains("?limit=1&amp;purpose=requested&amp;before=4\""));
  const auto second = api.page("/comparisons?limit=1&purpose=requested&before=4");
  CHECK_THAT(second, Contains("href=\"comparisons/3\"") && !Contains("Older ones"));
  CHECK_THAT(api.page("/compare/2.14.0.dev20260816...2.14.0.dev20260817"),
             Contains("Measured side by side:") && Contains("href=\"../comparisons/1\"") &&
                 Contains("href=\"../comparisons/4\""));
}
