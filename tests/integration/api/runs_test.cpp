#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "measured_nodes.hpp"
#include "torchwatch/runs/retention.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using nlohmann::json;

TEST_CASE("the samples of a run are listed with their unit in the order of measuring") {
  Api api;
  api.fill();
  const auto run = api.get("/api/v1/comparisons/1/runs").body.at("runs").at(0);
  CHECK(run.at("workload") == "resnet18");
  CHECK(run.at("status") == "ok");
  CHECK(run.at("values") == json::array({{{"metric", "time"}, {"unit", "ns"}, {"value", 30}}}));
  CHECK(run == api.get(run.at("url").get<std::string>()).body);
  const auto samples = api.get(run.at("samples_url").get<std::string>()).body;
  CHECK_FALSE(samples.at("thinned").get<bool>());
  const auto& wall = samples.at("samples").at(0);
  CHECK(wall.at("kind") == "wall_ns");
  CHECK(wall.at("unit") == "ns");
  CHECK(wall.at("values") == json::array({40, 10, 30, 20, 50}));
  CHECK(wall.at("median") == 30);
  CHECK(wall.at("spread") == 20);
}

TEST_CASE("what is left of thinned samples is shown as such, also in the values of a series") {
  Api api;
  api.fill();
  storage::ComparisonStore comparisons(*api.database);
  const auto first = comparisons.get(1).value();
  const auto unchanged = comparisons
                             .open({.purpose = storage::Purpose::requested,
                                    .candidate = first.candidate,
                                    .baseline = first.baseline},
                                   1)
                             .value();
  api.add_run(unchanged, 2000);
  storage::VerdictRow verdict;
  verdict.comparison = unchanged.id;
  verdict.series = {{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
  verdict.verdict = Verdict::unchanged;
  REQUIRE(comparisons.add_verdict(verdict));
  REQUIRE(comparisons.advance(unchanged, storage::ComparisonState::reported, 3000));
  REQUIRE(storage::thin_oldest_comparison(*api.database, 4000).value());

  const auto samples = api.get("/api/v1/runs/2/samples").body;
  CHECK(samples.at("thinned").get<bool>());
  const auto& wall = samples.at("samples").at(0);
  CHECK(wall.at("values").is_null());
  CHECK(wall.at("count") == 5);
  CHECK(wall.at("median") == 30);
  CHECK(wall.at("digest") ==
        api.get("/api/v1/runs/1/samples").body.at("samples").at(0).at("digest"));
  CHECK(api.get("/api/v1/runs/2").body.at("thinned").get<bool>());
  const auto values = api.get("/api/v1/series/resnet18/cpu-train/default/time").body.at("values");
  REQUIRE(values.size() == 2);
  CHECK_FALSE(values.at(0).at("thinned").get<bool>());
  CHECK(values.at(1).at("thinned").get<bool>());
  CHECK(values.at(1).at("run").at("url") == "/api/v1/runs/2");
}

TEST_CASE("runs are listed page by page and by what the filters name") {
  Api api;
  api.fill();
  const auto comparison = storage::ComparisonStore(*api.database).get(1).value();
  for (int i = 1; i < 5; ++i) api.add_run(comparison, 1000 + i);
  const std::string path = "/api/v1/comparisons/1/runs";
  const auto page = api.get(path + "?limit=2").body;
  CHECK(page.at("runs").at(0).at("id") == 5);
  CHECK(page.at("next") == 4);
  CHECK(api.get(path + "?limit=3&before=4").body.at("next").is_null());
  CHECK(api.get(path + "?workload=vgg16").body.at("runs").empty());
  CHECK(api.get(path + "?pass=timing&state=done").body.at("runs").size() == 5);
  const auto refused = api.get(path + "?pass=timings");
  CHECK(refused.status == 400);
  CHECK_THAT(refused.body.at("detail").get<std::string>(), Catch::Contains("timing, memory"));
  CHECK(api.get("/api/v1/comparisons/77/runs").status == 404);
  CHECK(api.get("/api/v1/bisections/1/runs").body.at("runs").empty());
}

TEST_CASE("a machine is what its runs were measured on") {
  Api api;
  api.fill();
  const auto machine = api.get("/api/v1/machines").body.at("machines").at(0);
  CHECK(machine.at("processor") == "Model X");
  CHECK(machine.at("cores") == 2);
  CHECK(machine.at("gpu").is_null());
  CHECK(machine.at("facts").size() == 2);
  CHECK(machine.at("runs") == 1);
  CHECK(machine.at("machine_class").at("name") == "Model X, 2 cores");
  CHECK(api.get("/api/v1/runs/1").body.at("machine_class") == machine.at("machine_class"));
  CHECK(api.get("/api/v1/runs/1").body.at("node").is_null());
  CHECK(api.get("/api/v1/runs/1").body.at("machine").at("url") == machine.at("url"));
  CHECK(api.get("/api/v1/machines/2").status == 404);
}

TEST_CASE("a machine has what its runs state of it, and its builds compared with themselves") {
  Api api;
  api.fill();
  const auto untold = api.get("/api/v1/machines/1").body;
  CHECK(untold.at("conditions").at("temperature").is_null());
  CHECK(untold.at("self_tests").at("self_tests").empty());
  CHECK_THAT(api.page("/machines/1"),
             Catch::Contains("not told by this machine") && Catch::Contains("no run is refused"));
  const auto self_test =
      ComparisonStore(*api.database)
          .open({.purpose = Purpose::self_test, .candidate = 2, .baseline = 2}, 1)
          .value();
  RunStore runs(*api.database);
  for (const std::int64_t milli : {61'000, 48'000, 52'400}) {
    RunResult result;
    result.attempt = "at " + std::to_string(milli);
    result.samples_ns = {20, 20, 20};
    result.values = {{Metric::time, 20}};
    result.environment.facts = {{"cpu_model", "Model X"}, {"cpus", "2"}};
    result.environment.volatile_facts = {{"temperature_milli", milli},
                                         {"load1_milli", 1'500},
                                         {"calibration_arithmetic_ns", 10 * milli},
                                         {"wall_ns", 1'000'000'000},
                                         {"steal_ticks", 10}};
    REQUIRE(runs.issue({.owner = {OwnerKind::comparison, self_test.id},
                        .slot = result.attempt,
                        .build = 2,
                        .benchmark = {"resnet18", {Device::cpu, Mode::train}, {}}},
                       result.attempt, 1));
    REQUIRE(runs.record({{result.attempt, result}}, 2));
  }
  VerdictRow verdict;
  verdict.comparison = self_test.id;
  verdict.series = {{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
  verdict.verdict = Verdict::unchanged;
  REQUIRE(ComparisonStore(*api.database).add_verdict(verdict));
  const auto machine = api.get("/api/v1/machines/1").body;
  const auto& conditions = machine.at("conditions");
  CHECK(conditions.at("runs") == 4);
  CHECK(conditions.at("temperature") ==
        json{{"least", 48.0}, {"median", 52.4}, {"most", 61.0}, {"newest", 52.4}});
  CHECK(conditions.at("load").at("median") == 1.5);
  CHECK(conditions.at("arithmetic_ns").at("most") == 610'000);
  CHECK(conditions.at("copy_ns").is_null());
  // 30 ticks of 10 ms in 3 s of two processors.
  CHECK(conditions.at("stolen_share").get<double>() == Approx(0.05));
  CHECK(machine.at("self_tests").at("all").at("series") == 1);
  CHECK(machine.at("drills").at("planted") == 0);
  CHECK_THAT(api.page("/machines/1"), Catch::Contains("52 °C at the end of the newest run; 48 °C "
                                                      "to 61 °C, half of the time up to 52 °C") &&
                                          Catch::Contains("before the newest timing run; ") &&
                                          Catch::Contains("not told by these runs"));
}

TEST_CASE("a machine has the nodes of its class, and which of them differs; strangers no names") {
  Api api;
  api.fill();
  CHECK(api.get("/api/v1/machines/1").body.at("nodes").empty());
  CHECK_THAT(api.page("/machines/1"), !Catch::Contains("Nodes of its class"));
  test::store_nightlies(*api.database, {.factors = {1, 1.3}});
  const auto nodes = api.get("/api/v1/machines/1").body.at("nodes");
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[1].at("node") == "n2");
  CHECK(nodes[1].at("time").at("items") == 40);
  CHECK(nodes[1].at("time").at("ratio").get<double>() == Approx(1.3).epsilon(0.02));
  CHECK(nodes[1].at("time").at("interval")[0].get<double>() > 1.25);
  CHECK(nodes[1].at("differs") == true);
  CHECK(nodes[1].at("noisier") == false);
  CHECK_THAT(api.page("/machines/1"), Catch::Contains("Nodes of its class") &&
                                          Catch::Contains(">n2<") && Catch::Contains("differs"));
  const auto seen =
      api.send("GET", "/api/v1/machines/1", "", {{"X-Forwarded-For", "198.51.100.1"}});
  CHECK(seen.body.at("nodes")[1].at("node").is_null());
}

TEST_CASE("equal nodes of a machine's class are listed, and none differs") {
  Api api;
  api.fill();
  test::store_nightlies(*api.database, {});
  const auto nodes = api.get("/api/v1/machines/1").body.at("nodes");
  REQUIRE(nodes.size() == 2);
  for (const auto& node : nodes) {
    CHECK(node.at("differs") == false);
    CHECK(node.at("noisier") == false);
  }
}

TEST_CASE("a workload says what was measured of it, and is found by its name") {
  Api api;
  CHECK(api.get("/api/v1/workloads").body.at("workloads").at(0).at("measured").empty());
  api.fill();
  const auto workload =
      api.get("/api/v1/workloads?domain=computer%20vision").body.at("workloads").at(0);
  CHECK(workload.at("name") == "resnet18");
  const auto& series = workload.at("measured").at(0).at("series").at(0);
  CHECK(series.at("unit") == "ns");
  CHECK(api.get(series.at("url").get<std::string>()).status == 200);
  CHECK(api.get(workload.at("url").get<std::string>()).body == workload);
  CHECK(api.get("/api/v1/workloads?domain=speech").body.at("workloads").empty());
  CHECK(api.get("/api/v1/workloads/resnet19").status == 404);
  CHECK(api.get("/api/v1/workloads?before=resnet19").status == 404);
}
