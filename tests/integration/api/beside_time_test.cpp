// Throughput and the first iteration, which are shown beside times and not judged.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;

namespace {

/// A timing run of the first comparison's candidate with that result.
void add_result(Api& api, RunResult result) {
  const auto comparison = ComparisonStore(*api.database).get(1).value();
  RunStore runs(*api.database);
  result.attempt = "beside";
  result.environment.facts = {{"cpu_model", "Model X"}, {"cpus", "2"}, {"heap", "mapped"}};
  REQUIRE(runs.issue({.owner = {OwnerKind::comparison, comparison.id},
                      .slot = result.attempt,
                      .build = comparison.candidate,
                      .benchmark = {"resnet18", {Device::cpu, Mode::train}, {}},
                      .pass = Pass::timing},
                     result.attempt, 1));
  REQUIRE(runs.record({{result.attempt, result}}, 2));
}

}  // namespace

TEST_CASE("what a run states beside its time is shown with it, and is not a series of its own") {
  Api api;
  api.fill();
  RunResult result;
  result.samples_ns = {40};
  result.values = {
      {Metric::time, 40}, {Metric::first_iteration, 1'234'000}, {Metric::throughput, 56'700}};
  add_result(api, result);
  const auto beside =
      json::array({{{"metric", "first_iteration"}, {"unit", "ns"}, {"value", 1'234'000}},
                   {{"metric", "throughput"}, {"unit", "items/1000 s"}, {"value", 56'700}}});
  auto stated = api.get("/api/v1/runs/2").body.at("values");
  REQUIRE(stated.size() == 3);
  stated.erase(0);
  CHECK(stated == beside);
  const auto samples = api.get("/api/v1/incidents/1/evidence").body.at("samples").at("runs");
  REQUIRE(samples.size() == 2);
  CHECK(samples.at(0).at("beside").empty());  // the run of an older runner
  CHECK(samples.at(1).at("beside") == beside);

  const std::string path = "/series/resnet18/cpu-train/default/";
  const auto page = api.page(path + "time");
  CHECK_THAT(page, Contains("56.7 items/s in the newest run; not judged") &&
                       Contains("1.234 ms in the newest run; not judged"));
  CHECK_THAT(page, Contains("data-column=\"throughput\">56.7 items/s</td>"));
  CHECK_THAT(api.get(path + "time.md").text,
             Contains("| throughput |") && Contains("| 56.7 items/s |"));
  const auto history = api.get("/api/v1" + path + "throughput");
  CHECK(history.status == 200);
  CHECK(history.body.at("unit") == "items/1000 s");
  CHECK(history.body.at("values").at(0).at("value") == 56'700);
  CHECK(history.body.at("noise").is_null());

  CHECK(api.get("/api/v1/series?workload=resnet18").body.at("series").size() == 1);
  for (const std::string metric : {"throughput", "first_iteration"}) {
    CHECK(api.get(path + metric).status == 404);
    CHECK(api.get("/api/v1/comparisons/1/matrix?metric=" + metric).status == 400);
    CHECK(api.get("/comparisons/1?metric=" + metric).status == 400);
    CHECK_THAT(api.page("/models/resnet18"), !Contains(metric));
  }
}
