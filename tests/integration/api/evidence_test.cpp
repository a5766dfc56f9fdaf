// What drawings show, as data.
#include <catch2/catch.hpp>

#include "drawn.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/setback_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;

namespace {

const Api::Headers kStranger{{"X-Forwarded-For", "198.51.100.1"}};
const Series kSeries{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
const Benchmark kOnGpu{"resnet18", {Device::cuda, Mode::train}, {}};

/// A run of the first comparison's candidate with that result.
void add_result(Api& api, const Benchmark& benchmark, Pass pass, RunResult result) {
  const auto comparison = ComparisonStore(*api.database).get(1).value();
  RunStore runs(*api.database);
  result.attempt = std::string(to_string(pass)) + " of " + to_string(benchmark);
  result.environment.facts = {{"cpu_model", "Model X"}};
  REQUIRE(runs.issue({.owner = {OwnerKind::comparison, comparison.id},
                      .slot = result.attempt,
                      .build = comparison.candidate,
                      .benchmark = benchmark,
                      .pass = pass},
                     result.attempt, 1));
  REQUIRE(runs.record({{result.attempt, result}}, 2));
}

}  // namespace

TEST_CASE("a matrix has the verdicts of one metric by columns") {
  Api api;
  api.fill();
  const auto matrix = api.get("/api/v1/comparisons/1/matrix?metric=time").body;
  CHECK(matrix.at("unit") == "ns");
  CHECK(matrix.at("series") == json::array({"resnet18/cpu-train/default/time"}));
  CHECK(matrix.at("verdict") == json::array({"regressed"}));
  CHECK(matrix.at("ratio") == json::array({1.15}));
  CHECK(matrix.at("low") == json::array({1.13}));
  CHECK(matrix.at("high") == json::array({1.17}));
  CHECK(matrix.at("pairs") == json::array({12}));
  CHECK(api.get("/api/v1/comparisons/1/matrix").body == matrix);
  const auto others = api.get("/api/v1/comparisons/1/matrix?metric=cpu_peak").body;
  CHECK(others.at("series").empty());
}

TEST_CASE("the address of a matrix's series leads to its values") {
  Api api;
  api.fill();
  const auto matrix = api.get("/api/v1/comparisons/1/matrix").body;
  const auto path =
      matrix.at("series_url").get<std::string>() + matrix.at("series").at(0).get<std::string>();
  CHECK(api.get(path).status == 200);
}

TEST_CASE("a matrix of what is not there, or of no metric, is refused") {
  Api api;
  api.fill();
  CHECK(api.get("/api/v1/comparisons/2/matrix").status == 404);
  CHECK(api.get("/api/v1/comparisons/1/matrix?metric=speed").status == 400);
  CHECK(api.get("/api/v1/comparisons/1/matrix?limit=1").status == 400);
  CHECK(api.get("/api/v1/comparisons/2/sparklines").status == 404);
}

TEST_CASE("sparklines have a value of each series for each nightly") {
  Api api;
  api.fill();
  const auto lines = api.get("/api/v1/comparisons/1/sparklines").body;
  CHECK(lines.at("comparisons") == json::array({1}));
  CHECK(lines.at("series") == json::array({"resnet18/cpu-train/default/time"}));
  CHECK(lines.at("values") == json::array({json::array({2.3e6})}));
}

TEST_CASE("an answer about evidence that a client has already is not sent again") {
  Api api;
  api.fill();
  const auto first = api.get("/api/v1/comparisons/1/matrix");
  const auto second = api.send("GET", "/api/v1/comparisons/1/matrix", "",
                               {{"If-None-Match", first.headers.at("etag")}});
  CHECK(second.status == 304);
}

TEST_CASE("the current comparison says how far it is") {
  Api api;
  CHECK(api.get("/api/v1/comparisons/current").body.at("comparison").is_null());
  api.fill();
  const auto current = api.get("/api/v1/comparisons/current").body;
  CHECK(current.at("comparison").at("id") == 1);
  CHECK(current.at("progress").at("runs_done") == 1);
  CHECK(current.at("progress").at("benchmarks_begun") == 1);
  CHECK(current.at("progress").at("running").empty());
  CHECK(current.at("progress").at("estimate").is_null());
}

TEST_CASE("the evidence of an incident has every sample of its first series") {
  Api api;
  api.fill();
  const auto evidence = api.get("/api/v1/incidents/1/evidence").body;
  CHECK(evidence.at("comparison").at("url") == "/api/v1/comparisons/1");
  CHECK(evidence.at("series").at(0).at("url") == "/api/v1/series/resnet18/cpu-train/default/time");
  const auto& samples = evidence.at("samples");
  CHECK(samples.at("metric") == "time");
  CHECK(samples.at("thinned_runs") == 0);
  CHECK(samples.at("memory").is_null());
  REQUIRE(samples.at("runs").size() == 1);
  const auto& run = samples.at("runs").at(0);
  CHECK(run.at("side") == "candidate");
  CHECK(run.at("median") == 30);
  CHECK(run.at("values") == json::array({40, 10, 30, 20, 50}));
  CHECK(api.get(run.at("run").at("url").get<std::string>()).status == 200);
}

TEST_CASE("the evidence of a series that an incident lacks is not found") {
  Api api;
  api.fill();
  CHECK(api.get("/api/v1/incidents/1/evidence?workload=resnet18&metric=time").status == 200);
  CHECK(api.get("/api/v1/incidents/1/evidence?workload=alexnet").status == 404);
  CHECK(api.get("/api/v1/incidents/2/evidence").status == 404);
}

TEST_CASE("the steps of a bisection say how the belief in each commit moved") {
  Api api;
  api.fill();
  const auto search = add_search_of_one_step(*api.database, kSeries);
  const auto steps = api.get("/api/v1/bisections/" + std::to_string(search) + "/steps").body;
  REQUIRE(steps.at("commits").size() == 2);
  CHECK(steps.at("commits").at(0).at("commit") == "cccc");
  CHECK(steps.at("commits").at(1).at("commit") == "bbbb");
  REQUIRE(steps.at("steps").size() == 1);
  CHECK(steps.at("steps").at(0).at("commit") == "cccc");
  CHECK(steps.at("steps").at(0).at("probabilities") == json::array({0.75, 0.25}));
}

TEST_CASE("the breakdown of a build is that of its profiles in a mode") {
  Api api;
  CHECK(api.get("/api/v1/breakdown").body.at("build").is_null());
  api.fill();
  RunResult result;
  result.breakdown = Breakdown{.active_ns = 60, .copy_ns = 10, .idle_ns = 30};
  add_result(api, kOnGpu, Pass::profile, result);
  const auto newest = api.get("/api/v1/breakdown").body;
  CHECK(newest.at("build").at("id") == 2);
  CHECK(newest.at("mode") == "train");
  REQUIRE(newest.at("profiles").size() == 1);
  CHECK(newest.at("profiles").at(0).at("configuration") == "cuda-train");
  CHECK(newest.at("profiles").at(0).at("active_ns") == 60);
  CHECK(api.get("/api/v1/breakdown?build=2&mode=infer").body.at("profiles").empty());
  CHECK(api.get("/api/v1/breakdown?build=1").body.at("profiles").empty());
  CHECK(api.get("/api/v1/breakdown?build=9").status == 404);
  CHECK(api.get("/api/v1/breakdown?build=x").status == 400);
  CHECK(api.get("/api/v1/breakdown?mode=x").status == 400);
}

TEST_CASE("what a GPU does is sorted by what is asked for, with the means of each domain") {
  Api api;
  api.fill();
  const auto add = [&](const std::string& workload, std::int64_t active) {
    RunResult result;
    result.breakdown = Breakdown{.active_ns = active, .copy_ns = 10, .idle_ns = 90 - active};
    add_result(api, {workload, {Device::cuda, Mode::train}, {}}, Pass::profile, result);
  };
  add("alexnet", 20);  // not in the suite
  add("resnet18", 60);
  const auto first_of = [&](const std::string& order) {
    const auto page = api.page("/gpu?build=2" + order);
    const auto figure = page.substr(page.find("<figure>"));
    return figure.find("alexnet") < figure.find("resnet18") ? "alexnet" : "resnet18";
  };
  CHECK(first_of("") == std::string("alexnet"));
  CHECK(first_of("&order=active") == std::string("resnet18"));
  // Neither has an earlier build.
  CHECK(first_of("&order=change") == std::string("alexnet"));
  CHECK(api.get("/gpu?order=x").status == 400);
  CHECK_THAT(api.page("/gpu?build=2"),
             Contains("Means of each domain, with 2.14.0.dev20260817</h2>") &&
                 Contains("<td data-column=\"domain\">computer vision</td><td class=\"number\" "
                          "data-column=\"series\" data-value=\"1\">1</td><td class=\"number\" "
                          "data-column=\"active\" data-value=\"0.6\">60 %</td>"));
}

TEST_CASE("the coverage of a build says which benchmarks call an operator") {
  Api api;
  api.fill();
  RunResult result;
  result.operators = {{"aten::conv2d", 20}};
  add_result(api, kOnGpu, Pass::coverage, result);
  const auto coverage = api.get("/api/v1/coverage").body;
  CHECK(coverage.at("benchmarks").at(0).at("workload") == "resnet18");
  CHECK(coverage.at("operators") == json::array({{{"name", "aten::conv2d"}, {"benchmarks", {0}}}}));
  CHECK(coverage.at("surface").empty());
  CHECK_THAT(api.page("/coverage?build=2"),
             Contains("How many operators the build has is not known"));
}

TEST_CASE("coverage is stated against the operators that the build has, and is searched by name") {
  Api api;
  api.fill();
  RunResult result;
  result.operators = {{"aten::conv2d", 20}, {"aten::relu", 1}};
  result.environment.volatile_facts = {{"operators_registered.aten", 8},
                                       {"operators_registered.mkldnn", 2}};
  add_result(api, kOnGpu, Pass::coverage, result);
  CHECK(api.get("/api/v1/coverage").body.at("surface") ==
        json::array({{{"namespace", "aten"}, {"called", 2}, {"registered", 8}},
                     {{"namespace", "mkldnn"}, {"called", 0}, {"registered", 2}}}));
  CHECK_THAT(api.page("/coverage?build=2"),
             Contains("Of the 10 operators that the build") && Contains("2 are called: 20 %"));
  const auto searched = api.page("/coverage?build=2&operator=relu");
  CHECK_THAT(searched, Contains("aten::relu") && !Contains("aten::conv2d"));
  CHECK_THAT(searched, Contains("name=\"operator\" maxlength=\"200\" value=\"relu\""));
  CHECK_THAT(searched, Contains("<input type=\"hidden\" name=\"build\" value=\"2\">"));
  CHECK_THAT(api.page("/coverage?build=2&operator=lstm"),
             Contains("No model calls such an operator.") && Contains("value=\"lstm\""));
}

TEST_CASE("what is no longer called is said against the build that was measured so before") {
  Api api;
  api.fill();
  const auto observe = [&](Id build, std::map<std::string, std::int64_t> operators) {
    const auto alone = ComparisonStore(*api.database)
                           .open({.purpose = Purpose::measurement, .candidate = build}, 1)
                           .value();
    RunStore runs(*api.database);
    RunResult result;
    result.attempt = "coverage of build " + std::to_string(build);
    result.operators = std::move(operators);
    REQUIRE(runs.issue({.owner = {OwnerKind::comparison, alone.id},
                        .slot = "alone/coverage/resnet18 cuda-train/0",
                        .build = build,
                        .benchmark = kOnGpu,
                        .pass = Pass::coverage},
                       result.attempt, 1));
    REQUIRE(runs.record({{result.attempt, result}}, 2));
  };
  observe(1, {{"aten::conv2d", 1}, {"aten::relu", 1}});
  observe(2, {{"aten::conv2d", 1}, {"aten::gelu", 1}});
  const auto coverage = api.get("/api/v1/coverage").body;
  CHECK(coverage.at("build").at("id") == 2);
  CHECK(coverage.at("before").at("id") == 1);
  CHECK(coverage.at("lost") == json::array({"aten::relu"}));
  CHECK(coverage.at("gained") == json::array({"aten::gelu"}));
  CHECK(api.get("/api/v1/coverage?build=1").body.at("before").is_null());
  const auto page = api.page("/coverage");
  CHECK_THAT(page, Contains("No longer called, compared with 2.14.0.dev20260816") &&
                       Contains("aten::relu"));
  CHECK_THAT(api.get("/coverage.csv").text, Catch::StartsWith("operator,benchmarks,models\r\n"));
}

TEST_CASE("a profile that shows no GPU says why, and not to strangers") {
  Api api;
  api.fill();
  RunResult result;
  result.breakdown_reason = "no driver at /usr/lib/libcuda.so.1";
  add_result(api, kOnGpu, Pass::profile, result);
  const auto without = api.get("/api/v1/breakdown").body.at("without");
  REQUIRE(without.size() == 1);
  CHECK(without.at(0).at("reason") == "no driver at /usr/lib/libcuda.so.1");
  CHECK_THAT(api.page("/gpu?build=2"), Contains("resnet18: no driver at"));
  const auto seen = api.send("GET", "/gpu?build=2", "", kStranger);
  CHECK_THAT(seen.text, Contains("Profiled, and nothing of a GPU seen") && !Contains("libcuda"));
}

TEST_CASE("a drill is found or missed, not regressed or unchanged, and the audits count it") {
  Api api;
  api.fill();
  CHECK_THAT(api.page("/machines"), Contains("No slowdown was planted yet"));
  ComparisonStore comparisons(*api.database);
  const auto drill = [&](Verdict verdict) {
    auto row = comparisons
                   .open({.purpose = Purpose::drill,
                          .candidate = 2,
                          .baseline = 2,
                          .plan_json = R"({"planted_slowdown":0.14})"},
                         api.clock.wall_now())
                   .value();
    VerdictRow judged;
    judged.comparison = row.id;
    judged.series = {{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
    judged.verdict = verdict;
    judged.reason = "as planted";
    REQUIRE(comparisons.add_verdict(judged));
    REQUIRE(comparisons.advance(row, ComparisonState::reported, api.clock.wall_now()));
    return std::to_string(row.id);
  };
  const auto found = drill(Verdict::regressed);
  const auto missed = drill(Verdict::unchanged);
  CHECK(api.get("/api/v1/comparisons/" + found).body.at("result") == "found");
  CHECK(api.get("/api/v1/comparisons/" + missed).body.at("result") == "missed");
  CHECK_THAT(api.page("/comparisons/" + missed),
             Contains("A drill, missed: the build is compared with itself"));
  const auto list = api.page("/comparisons?purpose=drill");
  CHECK_THAT(list, Contains("<span class=\"state found\">found</span>"));
  CHECK_THAT(list, Contains("<span class=\"state missed\">missed</span>"));
  CHECK_THAT(list, Contains("?purpose=nightly") && Contains("?purpose=study"));
  const auto drills = api.get("/api/v1/audits").body.at("drills");
  CHECK(drills.at("planted") == 2);
  CHECK(drills.at("missed") == 1);
  CHECK_THAT(api.page("/machines"), Contains("1 of 2 planted slowdowns were found, 1 was missed"));
  CHECK_THAT(api.page("/"), Contains("1 of 2 planted slowdowns"));
}

TEST_CASE("the audits count self-tests and how culprits held") {
  Api api;
  api.fill();
  api.add_self_test(Verdict::unchanged);
  const auto audits = api.get("/api/v1/audits").body;
  CHECK(audits.at("self_tests").at("all").at("series") == 1);
  CHECK(audits.at("self_tests") == api.get("/api/v1/self-tests").body);
  CHECK(audits.at("culprits") == json{{"named", 0}, {"sure", 0}, {"held", 0}, {"disputed", 0}});
}

TEST_CASE("the queue comes page by page, and tells strangers no reason") {
  Api api;
  api.fill();
  REQUIRE(SetbackStore(*api.database)
              .record({.key = {ItemKind::comparison, "1"},
                       .since = 1,
                       .not_before = 7'000,
                       .error = "no space in /home/ada"}));
  REQUIRE(api.post("/api/v1/nightlies", "{}").status == 202);
  const auto first = api.get("/api/v1/queue?limit=1");
  CHECK(first.body.at("queue").at(0).at("url") == "/api/v1/comparisons/1");
  CHECK_FALSE(first.body.at("queue").at(0).at("waits_for").is_null());
  CHECK(first.body.at("next") == "comparison/1");
  CHECK(first.headers.at("link") == "</api/v1/queue?before=comparison/1&limit=1>; rel=\"next\"");
  const auto second = api.get("/api/v1/queue?limit=1&before=comparison%2F1").body;
  CHECK(second.at("queue").at(0).at("kind") == "request");
  CHECK(second.at("next").is_null());
  const auto seen = api.send("GET", "/api/v1/queue", "", kStranger).body;
  CHECK(seen.at("queue").at(0).at("waits_for").is_null());
  CHECK(seen.at("queue").at(0).at("not_before") == "1970-01-01T00:00:07Z");
}

TEST_CASE("a search answers with addresses, for programs and for people") {
  Api api;
  api.fill();
  const auto found = api.get("/api/v1/search?q=resnet18").body.at("found");
  REQUIRE_FALSE(found.empty());
  CHECK(found.at(0).at("kind") == "workload");
  CHECK(found.at(0).at("html_url") == "/models/resnet18");
  for (const auto& each : found) {
    CHECK(api.get(each.at("url").get<std::string>()).status == 200);
    if (each.at("kind") == "incident") CHECK(each.at("html_url") == "/incidents/1");
  }
}

TEST_CASE("a search of more than 200 characters is refused, whatever they take") {
  Api api;
  const auto status = [&](const std::string& q) { return api.get("/api/v1/search?q=" + q).status; };
  CHECK(status(std::string(200, 'a')) == 200);
  CHECK(status(std::string(201, 'a')) == 400);
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "%C3%A9";
  const auto local = api.send("GET", "/api/v1/search?q=" + wide, "", {}, api.socket);
  CHECK(local.status == 200);
  CHECK(api.get("/api/v1/search").body.at("found").empty());
  CHECK(api.get("/api/v1/search?words=a").status == 400);
}

TEST_CASE("a stranger finds no folder of this machine") {
  Api api;
  api.fill();
  REQUIRE(BuildStore(*api.database).discover(BuildOrigin::folder, "/home/ada/secret"));
  CHECK(api.get("/api/v1/search?q=secret").body.at("found").size() == 1);
  const auto seen = api.send("GET", "/api/v1/search?q=secret", "", kStranger).body;
  CHECK(seen.at("found").empty());
}
