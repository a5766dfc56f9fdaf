// The page of one comparison: which verdicts it lists, and what is asked for alone.
#include <catch2/catch.hpp>
#include <set>

#include "api_fixture.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

/// A nightly with a regression, reported, as comparison 1.
struct Ended : Api {
  Ended() {
    fill();
    ComparisonStore comparisons(*database);
    const auto row = comparisons.get(1).value();
    REQUIRE(comparisons.advance(row, ComparisonState::reported, clock.wall_now()));
  }
};

}  // namespace

TEST_CASE("a comparison's page has the verdicts, and the unchanged ones folded") {
  Ended api;
  auto row = verdicts_of(*api.database, 1).value().front();
  row.series.metric = Metric::cpu_peak;
  row.verdict = Verdict::unchanged;
  REQUIRE(ComparisonStore(*api.database).add_verdict(row));
  REQUIRE(
      ComparisonStore(*api.database).set_summary(1, R"({"sentences": ["Not <confined>."]})", 0.99));
  const auto page = api.page("/comparisons/1");
  CHECK_THAT(page, Contains("Of 2 series: 1 series regressed.") && Contains("Regressed (1)") &&
                       Contains("<p>Not &lt;confined&gt;.</p>"));
  CHECK(page.find("<summary>Unchanged (1)") < page.find("cpu_peak"));
}

TEST_CASE("very many unchanged series are listed for those who ask") {
  Ended api;
  auto row = verdicts_of(*api.database, 1).value().front();
  row.verdict = Verdict::unchanged;
  for (int i = 0; i < 201; ++i) {
    row.series.benchmark.workload = "workload_" + std::to_string(i);
    REQUIRE(ComparisonStore(*api.database).add_verdict(row));
  }
  const auto page = api.page("/comparisons/1");
  CHECK_THAT(page, Contains("<h2>Unchanged (201)</h2>") &&
                       Contains("<a href=\"?only=unchanged\">List all 201</a>"));
  const auto rows_of = [&](const std::string& address) {
    const auto text = api.get(address).text;
    const auto begin = text.find("# Unchanged (201)");
    REQUIRE(begin != std::string::npos);
    const auto section = text.substr(begin, text.find("\n## ", begin) - begin);
    std::set<std::string> names;
    for (int i = 0; i < 201; ++i) {
      const auto name = "workload\\_" + std::to_string(i);
      if (section.find("[" + name + "]") != std::string::npos) names.insert(name);
    }
    return names.size();
  };
  CHECK(rows_of("/comparisons/1.md") == 0);
  CHECK(rows_of("/comparisons/1.md?only=unchanged") == 201);
}

TEST_CASE("what a comparison's page is asked for alone is alone in its heat map, too") {
  Ended api;
  auto row = verdicts_of(*api.database, 1).value().front();
  const auto regressed = row.series.benchmark.workload;
  row.series.benchmark.workload = "alexnet";
  row.verdict = Verdict::unchanged;
  row.ratio = row.interval_low = row.interval_high = 1;
  REQUIRE(ComparisonStore(*api.database).add_verdict(row));
  const auto drawn = [&](const std::string& only) {
    const auto page = api.page("/comparisons/1?only=" + only);
    return page.substr(page.find("id=\"map\""));
  };
  CHECK_THAT(drawn("all"), Contains("alexnet") && Contains(", 2 models in"));
  CHECK_THAT(drawn("regressed"), Contains(regressed) && !Contains("alexnet") &&
                                     Contains(", 1 of 2 models in") &&
                                     Contains(", only regressed") && Contains("over 2 models"));
  CHECK_THAT(drawn("improved"), Contains("Only improved: none of 2 models in") &&
                                    !Contains("<svg") && !Contains("the past of each model"));
  CHECK_THAT(api.get("/comparisons/1.md?only=regressed").text,
             Contains("1 of 2 models") && !Contains("alexnet"));
  CHECK_THAT(api.get("/comparisons/1.csv?only=regressed").text, Contains("alexnet"));
}

TEST_CASE("a comparison's page and its twin list what moved exactly below the threshold") {
  Ended api;
  auto row = verdicts_of(*api.database, 1).value().front();
  row.series.metric = Metric::cpu_peak;
  row.verdict = Verdict::unchanged;
  row.ratio = row.interval_low = row.interval_high = 1.007;
  REQUIRE(ComparisonStore(*api.database).add_verdict(row));
  CHECK_THAT(api.page("/comparisons/1"), Contains("Moved exactly, below the threshold (1)") &&
                                             Contains("exactly +0.7 %") &&
                                             Contains("found by the drift comparison"));
  CHECK_THAT(api.get("/comparisons/1.md").text, Contains("exactly +0.7 %"));
  for (const auto& verdict : api.get("/api/v1/comparisons/1").body.at("verdicts")) {
    CHECK(verdict.at("exact") == (verdict.at("metric") == "cpu_peak"));
  }
}

TEST_CASE("a comparison leads to the others of its builds by the names that their page knows") {
  Ended api;
  BuildStore builds(*api.database);
  ComparisonStore comparisons(*api.database);
  const auto add = [&](BuildOrigin origin, const std::string& name) {
    const auto build = builds.discover(origin, name).value();
    return comparisons
        .open({.purpose = Purpose::requested, .candidate = build.id, .baseline = 1},
              api.clock.wall_now())
        .value()
        .id;
  };
  const auto page_of = [&](Id id) { return api.page("/comparisons/" + std::to_string(id)); };
  const std::string pair = "/compare/2.14.0.dev20260816...535808dc7b59";
  const auto commit = page_of(add(BuildOrigin::commit, "535808dc7b59" + std::string(28, 'a')));
  CHECK_THAT(commit, Contains("href=\".." + pair + "\">Every comparison of these two builds"));
  CHECK(api.get(pair).status == 200);
  // A path cannot have the slash.
  CHECK_THAT(page_of(add(BuildOrigin::pull, "pull/12@0123456789ab")),
             !Contains("Every comparison of these two builds"));
}

TEST_CASE("why a drill ended is not for strangers, in no form of its page") {
  Ended api;
  ComparisonStore comparisons(*api.database);
  const auto drill = comparisons
                         .open({.purpose = Purpose::drill,
                                .candidate = 2,
                                .baseline = 2,
                                .plan_json = R"({"planted_slowdown":0.14})"},
                               1)
                         .value();
  REQUIRE(comparisons.cancel(drill.id, "no space in /home/ada", 2));
  for (const std::string form : {"", ".md"}) {
    const auto path = "/comparisons/" + std::to_string(drill.id) + form;
    INFO(path);
    CHECK_THAT(api.get(path).text, Contains("/home/ada"));
    CHECK_THAT(api.send("GET", path, "", {{"X-Forwarded-For", "198.51.100.1"}}).text,
               Contains("the build is compared with itself; ") && !Contains("/home/ada"));
  }
}
