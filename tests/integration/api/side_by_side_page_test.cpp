// One build on two machine classes: the page, its twins, and the API's answer.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "page_checks.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;

namespace {

const Benchmark kTrain{"alexnet", {Device::cpu, Mode::train}, {}};
const Benchmark kInfer{"bert_pytorch", {Device::cpu, Mode::infer}, {}};

/// What `fill` stores, and the second build on "Model Y" (class 2) beside "Model X" (class 1), of
/// which each has four runs of two benchmarks; "Model X" alone has one of a third, and that of
/// fill.
struct TwoClasses : Api {
  TwoClasses() {
    fill();
    measurement = ComparisonStore(*database)
                      .open({.purpose = Purpose::measurement, .candidate = 2}, 1)
                      .value()
                      .id;
    for (const std::int64_t microsecond : {100, 101, 102, 103}) {
      add("Model X", kTrain, microsecond * 1'000);
      add("Model Y", kTrain, microsecond * 500);
      add("Model X", kInfer, microsecond * 10);
      add("Model Y", kInfer, microsecond * 20);
    }
    add("Model X", {"dlrm", {Device::cpu, Mode::infer}, {}}, 1'000);
  }

  void add(const std::string& processor, const Benchmark& benchmark, std::int64_t nanoseconds) {
    RunStore runs(*database);
    RunResult result;
    result.attempt = "alone/" + std::to_string(++added);
    result.values = {{Metric::time, nanoseconds}};
    result.environment.facts = {{"cpu_model", processor}, {"cpus", "2"}};
    REQUIRE(runs.issue({.owner = {OwnerKind::comparison, measurement},
                        .slot = result.attempt,
                        .build = 2,
                        .benchmark = benchmark,
                        .pass = Pass::timing},
                       result.attempt, 1));
    REQUIRE(runs.record({{result.attempt, result}}, 2));
  }

  Id measurement = 0;
  int added = 0;
};

/// As one who came through a proxy, without a token.
Api::Answer seen_by_stranger(Api& api, const std::string& path) {
  return api.send("GET", path, "", {{"X-Forwarded-For", "192.0.2.1"}});
}

}  // namespace

TEST_CASE("the page of one build on two classes draws it, and says what it does not know") {
  TwoClasses api;
  const auto html = api.page("/machines/compare?build=2&a=1&b=2");
  CHECK(wrong_tag(html) == "");
  CHECK(harm_in_html(html) == "");
  CHECK_THAT(html, Contains("<svg ") && Contains("alexnet cpu-train: -50.0 % [") &&
                       Contains("bert_pytorch cpu-infer: +100.0 % [") &&
                       Contains("geometric mean of 2"));
  CHECK_THAT(html, Contains("The geometric mean of 2 benchmarks that ran on both is +0.0 % <") &&
                       Contains("2 benchmarks ran on A alone.") &&
                       Contains("Runs on two machines make no pairs") &&
                       Contains("there is no verdict"));
  CHECK_THAT(html, !Contains("regressed") && !Contains("improved"));
  CHECK_THAT(html, Contains("torchwatch compare 2.14.0.dev20260817 --between &#39;machine=Model X, "
                            "2 cores&#39; --and &#39;machine=Model Y, 2 cores&#39;</pre>"));
}

TEST_CASE("its table has medians, ratio, interval and runs of each benchmark") {
  TwoClasses api;
  const auto html = api.page("/machines/compare?build=2&a=1&b=2");
  const auto row = html.substr(html.rfind("<tbody>"));
  CHECK_THAT(row, Contains("data-column=\"median on A\" data-value=\"101500\">101.5 µs") &&
                      Contains("data-column=\"median on B\" data-value=\"50750\">50.75 µs") &&
                      Contains("data-column=\"B against A\" data-value=\"0.5\">-50.0 %") &&
                      Contains("data-column=\"runs on A\" data-value=\"4\">4") &&
                      Contains("../series/alexnet/cpu-train/default/time"));
  const auto csv = api.get("/machines/compare.csv?build=2&a=1&b=2").text;
  CHECK_THAT(csv, Contains("workload,configuration,variant,a_ns,b_ns,ratio,interval_low,"
                           "interval_high,runs_a,runs_b\r\n") &&
                      Contains("alexnet,cpu-train,default,101500.0,50750.0,0.5,0.49"));
  CHECK_THAT(api.get("/machines/compare.md?build=2&a=1&b=2").text,
             Contains("make no pairs") && Contains("| [bert\\_pytorch cpu-infer]"));
}

TEST_CASE("a plain form chooses the build and the classes, with those that have values") {
  TwoClasses api;
  const auto html = api.page("/machines/compare?build=2&a=2&b=1");
  const auto form = html.substr(html.find("<form class=\"choices\""));
  CHECK_THAT(form, Contains("method=\"get\" action=\"../machines/compare\"") &&
                       Contains("<option value=\"2\" selected>2.14.0.dev20260817</option>") &&
                       !Contains(">2.14.0.dev20260816</option>"));
  const auto a = form.substr(form.find("name=\"a\""), 250);
  CHECK_THAT(a, Contains("<option value=\"1\">Model X, 2 cores</option>") &&
                    Contains("<option value=\"2\" selected>Model Y, 2 cores</option>"));
  // A build that is asked for stays chosen, also where only one class has measured it.
  CHECK_THAT(api.page("/machines/compare?build=1&a=1&b=2"),
             Contains("<option value=\"1\" selected>2.14.0.dev20260816</option>"));
}

TEST_CASE(
    "what is not named is the newest build that several classes measured, and its first two") {
  TwoClasses api;
  const auto whole = api.get("/api/v1/machines/compare?build=2&a=1&b=2").body;
  CHECK(whole.at("benchmarks").size() == 2);
  for (const std::string query : {"", "?build=2", "?a=1", "?b=2", "?build=2&b=2"}) {
    INFO(query);
    CHECK(api.get("/api/v1/machines/compare" + query).body == whole);
    CHECK(api.get("/machines/compare.json" + query).body == whole);
  }
  const auto turned = api.get("/api/v1/machines/compare?a=2").body;
  CHECK(turned.at("a").at("id") == 2);
  CHECK(turned.at("b").at("id") == 1);
  CHECK(turned.at("benchmarks")[0].at("workload") == "bert_pytorch");
}

TEST_CASE("a build with nothing in common says so, and so do machines of one class") {
  TwoClasses api;
  const auto alone = api.page("/machines/compare?build=1&a=1&b=2");
  CHECK_THAT(alone, Contains("Nothing has been measured on both.") && !Contains("<svg"));
  const auto document = api.get("/machines/compare.json?build=1&a=1&b=2").body;
  CHECK(document.at("geometric_mean").is_null());
  CHECK(document.at("benchmarks").empty());

  Api one;
  CHECK_THAT(one.page("/machines/compare"), Contains("No machine has measured anything yet."));
  one.fill();
  CHECK_THAT(one.page("/machines/compare"),
             Contains("All machines are of one class, Model X, 2 cores.") && !Contains("<select"));
  CHECK_THAT(one.page("/machines"), !Contains("machines/compare"));
  CHECK(one.get("/machines/compare.json").body.at("build").is_null());
  CHECK(count(one.get("/machines/compare.csv").text, "\r\n") == 1);
  CHECK_THAT(api.page("/machines"), Contains("href=\"machines/compare\""));
}

TEST_CASE("two classes with nothing in common lead to no build") {
  Api api;
  api.fill();
  RunStore runs(*api.database);
  RunResult result;
  result.attempt = "elsewhere";
  result.values = {{Metric::time, 5}};
  result.environment.facts = {{"cpu_model", "Model Y"}, {"cpus", "2"}};
  REQUIRE(runs.issue({.owner = {OwnerKind::comparison, 1},
                      .slot = "elsewhere",
                      .build = 2,
                      .benchmark = kInfer,
                      .pass = Pass::timing},
                     "elsewhere", 1));
  REQUIRE(runs.record({{"elsewhere", result}}, 2));
  CHECK_THAT(api.page("/machines/compare"),
             Contains("No benchmark of any build has been measured on two machine classes"));
  CHECK(api.get("/api/v1/machines/compare").body.at("a").is_null());
  CHECK_THAT(api.page("/machines/compare?build=2"),
             Contains("1 benchmark ran on A alone.") && Contains("1 benchmark ran on B alone."));
}

TEST_CASE("a build and classes that are named wrongly are said to be, on a page and as JSON") {
  TwoClasses api;
  const std::vector<std::pair<std::string, int>> wrong{{"build=99", 404},
                                                       {"a=99", 404},
                                                       {"b=99", 404},
                                                       {"build=2&a=1&b=1", 404},
                                                       {"build=0", 400},
                                                       {"build=-1", 400},
                                                       {"build=2.14.0.dev20260817", 400},
                                                       {"a=%3Cscript%3Ealert(1)%3C/script%3E", 400},
                                                       {"a=99999999999999999999", 400},
                                                       {"a=", 400},
                                                       {"a=1&a=2", 400},
                                                       {"limit=5", 400},
                                                       {"build=" + std::string(7'000, '7'), 400},
                                                       {"build=" + std::string(10'000, '7'), 414}};
  for (const auto& [query, status] : wrong) {
    INFO(query.substr(0, 100));
    const auto seen = api.send("GET", "/machines/compare?" + query, "", {{"Accept", "text/html"}});
    CHECK(seen.status == status);
    CHECK(seen.headers.at("content-type") == "text/html; charset=utf-8");
    CHECK(count(seen.text, "<h1>") == 1);
    CHECK(harm_in_html(seen.text) == "");
    CHECK(seen.text.size() < 20'000);
    for (const std::string path : {"/api/v1/machines/compare?", "/machines/compare.md?"}) {
      const auto said = api.get(path + query);
      CHECK(said.status == status);
      CHECK(said.headers.at("content-type") == "application/problem+json");
    }
  }
  CHECK_THAT(api.get("/machines/compare?a=1&b=1").text,
             Contains("machine class 1 is not compared with itself: must be two classes"));
}

TEST_CASE("a stranger sees no folder of one build on two classes") {
  TwoClasses api;
  auto build = BuildStore(*api.database).discover(BuildOrigin::folder, "/home/ada/build").value();
  const auto measured = ComparisonStore(*api.database)
                            .open({.purpose = Purpose::measurement, .candidate = build.id}, 1)
                            .value();
  RunStore runs(*api.database);
  for (const std::string processor : {"Model X", "Model Y"}) {
    RunResult result;
    result.attempt = "of a folder on " + processor;
    result.values = {{Metric::time, 5}};
    result.environment.facts = {{"cpu_model", processor}, {"cpus", "2"}};
    REQUIRE(runs.issue({.owner = {OwnerKind::comparison, measured.id},
                        .slot = result.attempt,
                        .build = build.id,
                        .benchmark = kTrain,
                        .pass = Pass::timing},
                       result.attempt, 1));
    REQUIRE(runs.record({{result.attempt, result}}, 2));
  }
  CHECK_THAT(api.page("/machines/compare"), Contains("/home/ada/build"));
  for (const std::string ending : {"", ".json", ".md", ".csv"}) {
    const auto seen = seen_by_stranger(api, "/machines/compare" + ending);
    CHECK(seen.status == 200);
    CHECK_THAT(seen.text, Contains("alexnet") && !Contains("/home/ada"));
  }
  CHECK(seen_by_stranger(api, "/machines/compare.json").body.at("build").at("name").is_null());
}

TEST_CASE("the command of one build on two classes names the build that the page has") {
  TwoClasses api;
  const std::string path = "/machines/compare?build=2&a=1&b=2";
  CHECK_THAT(api.page(path), Contains("torchwatch compare 2.14.0.dev20260817 --between"));
  // A newer build of the same name is what the command would take.
  REQUIRE(BuildStore(*api.database).discover(BuildOrigin::folder, "2.14.0.dev20260817"));
  CHECK_THAT(api.page(path), Contains("torchwatch compare 2 --between"));
}
