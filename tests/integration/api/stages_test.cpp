// How far work is, on the first page; what lists of comparisons say of each.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "raw_sql.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/runs/trunk_range_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

constexpr WallMillis kHour = 3'600'000;

/// A service whose first comparison, with one series that regressed, has ended.
struct Ended : Api {
  Ended() {
    fill();
    const auto row = comparisons.get(1).value();
    REQUIRE(comparisons.advance(row, ComparisonState::reported, clock.wall_now()));
  }

  /// A comparison of a new nightly whose builds are prepared.
  ComparisonRow prepared(const std::string& name, WallMillis at) {
    const auto build = builds.discover(BuildOrigin::nightly, name).value();
    const auto row = comparisons.open({Purpose::nightly, build.id, 2}, at).value();
    return comparisons.advance(row, ComparisonState::ready, at).value();
  }

  /// One that took an hour.
  void add_ended(const std::string& name, WallMillis at) {
    const auto row = prepared(name, at);
    add_run(row, at);
    REQUIRE(comparisons.advance(row, ComparisonState::reported, at + kHour));
  }

  Id add_nightly(const std::string& name, const std::string& trunk) {
    auto row = builds.discover(BuildOrigin::nightly, name).value();
    row.content_hash = row.folder = "/builds/" + name;
    row.trunk_commit = trunk;
    return builds.mark_ready(row).value().id;
  }

  ComparisonStore comparisons{*database};
  BuildStore builds{*database};
};

/// And the comparison of two further nightlies.
struct TwoNightlies : Ended {
  struct Compared {
    std::string from, to;  ///< trunk commits of the builds
    ComparisonRow row;
  };

  Compared compare_two() {
    Compared made{.from = std::string(40, 'a'), .to = std::string(40, 'b'), .row = {}};
    const auto older = add_nightly("older", made.from);
    const auto newer = add_nightly("newer", made.to);
    made.row = comparisons.open({Purpose::nightly, newer, older}, 1).value();
    return made;
  }

  Compared compared = compare_two();
};

/// And an open search between four commits.
struct Searching : Ended {
  void append(const char* kind, const char* body) {
    REQUIRE(searches.append(search.id, {events++, kind, body}));
  }

  void measure_ends() {
    append("built", R"({"candidate": 3, "commit": "bbbb"})");
    append("measured", R"({"candidate": 3, "reference": null, "purpose": "verify_ends",)"
                       R"( "effects": {"0": [4096, 4096]}, "references": {"0": [9000, 9000]},)"
                       R"( "posterior": [0.25, 0.25, 0.25, 0.25]})");
  }

  BisectionRow open_search() {
    bisection::BisectionSpec spec;
    spec.good = "aaaa";
    spec.bad = "bbbb";
    spec.series = {{.series = {{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::cpu_peak},
                    .noise_sd = 0,
                    .minimum_effect = 1}};
    BisectionRow row;
    row.good = spec.good;
    row.bad = spec.bad;
    row.spec_json = to_json(spec);
    row.created_at = clock.wall_now();
    return searches.open(row).value();
  }

  BisectionStore searches{*database};
  int events = 0;
  BisectionRow search = open_search();
  std::string path = "/bisections/" + std::to_string(search.id);
};

}  // namespace

TEST_CASE("the page shows the stage of the comparison at work, how far it is and until when") {
  Ended api;
  CHECK_THAT(api.page("/"), !Contains("class=\"stages\""));
  // Fewer make no estimate.
  for (const int day : {1, 2, 3}) {
    api.add_ended("day " + std::to_string(day), api.clock.wall_now() + day);
  }
  const auto row = api.prepared("next", api.clock.wall_now());
  CHECK_THAT(api.page("/"), Contains("Stage 3 of 6 of the comparison, measure; it waits, and then "
                                     "takes about 1 h 0 min, in nine of ten cases at most 1 h 0"));
  api.doing = {.what = "measuring", .comparison = row.id, .since = api.clock.wall_now()};
  const auto page = api.page("/");
  CHECK_THAT(page, Contains("<ol class=\"stages\" aria-label=\"Stages of the comparison\">") &&
                       Contains("<li class=\"done\">prepare</li>\n<li "
                                "aria-current=\"step\">measure</li>\n<li>judge</li>"));
  CHECK_THAT(page, Contains("Stage 3 of 6 of the comparison, measure; it will probably end at "
                            "<time") &&
                       Contains(" UTC, in nine of ten cases by <time"));
}

TEST_CASE("the page shows the stage of a search under way") {
  Ended api;
  BisectionStore searches(*api.database);
  bisection::BisectionSpec spec;
  spec.good = "aaaa";
  spec.bad = "bbbb";
  spec.series = {{.series = {{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time}}};
  BisectionRow row;
  row.good = spec.good;
  row.bad = spec.bad;
  row.spec_json = to_json(spec);
  row.created_at = api.clock.wall_now();
  row = searches.open(row).value();
  CHECK_THAT(api.page("/"),
             Contains("Stage 1 of 4 of the search, compare the ends: 0 steps done."));
  const auto measured = [](const std::string& purpose) {
    return R"({"candidate": 0, "reference": null, "purpose": ")" + purpose +
           R"(", "effects": {"0": [0.1]}, "references": {}, "posterior": [0.75, 0.25]})";
  };
  REQUIRE(searches.append(row.id, {0, "built", R"({"candidate": 0, "commit": "cccc"})"}));
  REQUIRE(searches.append(row.id, {1, "measured", measured("probe")}));
  CHECK_THAT(api.page("/"), Contains("Stage 2 of 4 of the search, narrow down: 2 steps done."));
  REQUIRE(searches.append(row.id, {2, "measured", measured("verify_culprit")}));
  CHECK_THAT(api.page("/"),
             Contains("<li aria-current=\"step\">verify</li>\n<li>look for more</li>"));
}

TEST_CASE("an open search says what it does next, why, and what it costs, in each form") {
  Searching api;
  const auto& path = api.path;
  CHECK(api.get("/api/v1" + path + "/steps").body.at("outlook").is_null());
  api.measure_ends();
  const std::string next = "Next: build and measure commit 2 of the 4 that can have the culprit";
  const std::string why = "all that follows rests on the difference between the ends";
  const auto page = api.page(path);
  CHECK_THAT(page, Contains(next) && Contains("Why: with 50 % the culprit is this commit") &&
                       Contains(why));
  CHECK_THAT(page, Contains("<dt>builds so far</dt>") && Contains("about 2 more commits to try"));
  CHECK_THAT(page, Contains("What each commit reads") && Contains("id=\"probes-title\""));
  CHECK_THAT(api.get(path + ".md").text, Contains(next) && Contains(why));
  const auto steps = api.get("/api/v1" + path + "/steps").body;
  CHECK(steps.at("steps").at(0).at("why") == why);
  CHECK(steps.at("outlook").at("needs_build") == true);
  CHECK(steps.at("outlook").at("builds") == 0);
  CHECK(steps.at("outlook").at("runs") == 4);
  CHECK(steps.at("outlook").at("commits_left") == 2);
  CHECK(steps.at("unread").is_null());
  CHECK(api.get("/api/v1" + path).body.at("bisection_trace").at(1).at("why") == why);
}

TEST_CASE("an event that cannot be read leaves the steps before it, and what the row says") {
  Searching api;
  api.measure_ends();
  REQUIRE(
      test::raw_sql(api.database_path,
                    "UPDATE bisection_event SET body_json = replace(body_json, 'verify', 'vreify') "
                    "WHERE ordinal = 1 AND bisection_id = " +
                        std::to_string(api.search.id)) == 1);
  const auto says =
      "Only its first step can be read, and not what comes next: `torchwatch "
      "bisection show " +
      std::to_string(api.search.id) + "` says why";
  const auto page = api.page(api.path);
  CHECK_THAT(page, Contains("Only its first step can be read, and not what comes next: ") &&
                       Contains("built bbbb, the bad end"));
  CHECK_THAT(page, !Contains("Next: ") && Contains("<dt>first bad</dt>"));
  CHECK_THAT(api.get(api.path + ".md").text, Contains(says));
  const auto twin = api.get(api.path + ".json").body;
  CHECK(twin.at("unread") == says);
  CHECK(twin.at("bisection_trace").size() == 1);
  const auto steps = api.get("/api/v1" + api.path + "/steps").body;
  CHECK(steps.at("unread") == says);
  CHECK(steps.at("outlook").is_null());
  CHECK_THAT(api.page("/"), Contains("Stage 1 of 4 of the search, compare the ends: 1 step done."));
}

TEST_CASE("a search whose spec cannot be read still has its page") {
  Searching api;
  api.measure_ends();
  REQUIRE(test::raw_sql(api.database_path, "UPDATE bisection SET spec_json = '{' WHERE id = " +
                                               std::to_string(api.search.id)) == 1);
  CHECK_THAT(api.page(api.path), Contains("Its steps cannot be read, and not what comes next"));
  CHECK(api.get(api.path + ".json").body.at("bisection_trace").empty());
}

TEST_CASE("a comparison says how many commits lie between its builds, where that is known") {
  TwoNightlies api;
  const auto& [from, to, row] = api.compared;
  const auto path = "/comparisons/" + std::to_string(row.id);
  CHECK_THAT(api.page(path),
             Contains("<dt>trunk commits</dt><dd><a href=\"https://github.com/pytorch/"
                      "pytorch/compare/" +
                      from + "..." + to + "\">aaaaaaaaaaaa to bbbbbbbbbbbb</a> (12 commits)</dd>"));
  CHECK_THAT(api.get(path + ".md").text, Contains("(12 commits)"));
  const auto twin = api.get(path + ".json").body;
  CHECK(twin.at("commits") == 12);
  CHECK(twin.at("commits_that_can_matter").is_null());
  REQUIRE(TrunkRangeStore(*api.database).record(row.id, 7));
  const std::string counted = "</a> (12 commits, of which 7 can matter)";
  CHECK_THAT(api.page(path), Contains("aaaaaaaaaaaa to bbbbbbbbbbbb" + counted));
  CHECK_THAT(api.get(path + ".md").text, Contains("(12 commits, of which 7 can matter)"));
  CHECK(api.get(path + ".json").body.at("commits_that_can_matter") == 7);
  api.commits.reset();
  CHECK_THAT(api.page(path), Contains("aaaaaaaaaaaa to bbbbbbbbbbbb</a></dd>"));
  CHECK(api.get(path + ".json").body.at("commits").is_null());
}

TEST_CASE("a list of comparisons has the commits between the builds, and counts of verdicts") {
  TwoNightlies api;
  const auto& [from, to, row] = api.compared;
  for (const auto* workload : {"a", "b"}) {
    VerdictRow verdict;
    verdict.comparison = row.id;
    verdict.series = {{workload, {Device::cpu, Mode::train}, {}}, Metric::time};
    verdict.verdict = Verdict::inconclusive;
    REQUIRE(api.comparisons.add_verdict(verdict));
  }
  const auto page = api.page("/comparisons");
  CHECK_THAT(page, Contains("href=\"https://github.com/pytorch/pytorch/compare/" + from + "..." +
                            to + "\">aaaaaaaaaaaa to bbbbbbbbbbbb</a></td>") &&
                       Contains("data-column=\"commits\" data-value=\"12\">12</td>"));
  CHECK_THAT(page, !Contains("can matter"));
  CHECK_THAT(page, Contains("data-column=\"inconclusive\" data-value=\"2\">2</td>") &&
                       Contains("data-column=\"regressed\" data-value=\"1\">1</td>"));
  // A column in which no comparison has a series is left out; spreadsheets get it.
  CHECK_THAT(page, !Contains("data-column=\"failed\""));
  CHECK_THAT(api.get("/comparisons.csv").text,
             Contains("result,regressed,failed,improved,inconclusive,unchanged,"));
}

TEST_CASE("a list of comparisons says how many of the commits can matter") {
  TwoNightlies api;
  REQUIRE(TrunkRangeStore(*api.database).record(api.compared.row.id, 7));
  const std::string cells =
      "data-column=\"commits\" data-value=\"12\">12</td><td class=\"number\" "
      "data-column=\"can matter\" data-value=\"7\">7</td>";
  for (const auto* list : {"/comparisons", "/"}) CHECK_THAT(api.page(list), Contains(cells));
  const auto csv = api.get("/comparisons.csv").text;
  CHECK_THAT(csv, Contains(",trunk commits,commits,can matter,purpose,") &&
                      Contains(",aaaaaaaaaaaa to bbbbbbbbbbbb,12,7,nightly,"));
  CHECK_THAT(api.get("/comparisons.md").text, Contains("| 12 | 7 | nightly |"));
  const auto listed = api.get("/api/v1/comparisons").body.at("comparisons");
  CHECK(listed.at(0).at("commits_that_can_matter") == 7);
  CHECK(listed.at(1).at("commits_that_can_matter").is_null());
}
