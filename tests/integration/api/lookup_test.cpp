// How an author of a dashboard finds one thing: a build by id or name, series and incidents by
// variant, lists page by page.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using nlohmann::json;

namespace {

const std::string kHistory = "/api/v1/series/resnet18/cpu-train/default/time";
const Api::Headers kStranger{{"X-Forwarded-For", "198.51.100.1"}};

/// A search that named a commit, for the first incident.
void add_culprit(Api& api) {
  BisectionStore bisections(*api.database);
  BisectionRow row;
  row.incident = 1;
  row.good = "aaaa";
  row.bad = "bbbb";
  row.spec_json = to_json(bisection::BisectionSpec{});
  row.created_at = api.clock.wall_now();
  row = bisections.open(row).value();
  bisection::BisectionResult result;
  result.culprits.emplace_back().commits = {"bed9e5a977bb93dcaf61"};
  REQUIRE(bisections.end(row, to_json(result), api.clock.wall_now()));
  REQUIRE(IncidentStore(*api.database).attach_bisection(1, row.id));
}

/// A run of a workload on another machine, of the same class unless another processor is named.
void add_run_elsewhere(Api& api, const std::string& workload = "resnet18",
                       const std::string& cpu = "Model X") {
  RunStore runs(*api.database);
  const auto now = api.clock.wall_now();
  const auto attempt = workload + " elsewhere";
  REQUIRE(runs.issue({.owner = {OwnerKind::comparison, 1},
                      .slot = attempt,
                      .build = 2,
                      .benchmark = {workload, {Device::cpu, Mode::train}, {}}},
                     attempt, now));
  RunResult result;
  result.attempt = attempt;
  result.samples_ns = {20, 20, 20};
  result.values = {{Metric::time, 20}};
  result.environment.facts = {{"cpu_model", cpu}, {"cpus", "2"}, {"kernel", "6.1"}};
  REQUIRE(runs.record({{attempt, result}}, now));
}

}  // namespace

TEST_CASE("a build is found by its id and by its name, and says where it is") {
  Api api;
  api.fill();
  const auto build = api.get("/api/v1/builds/2").body;
  CHECK(build.at("name") == "2.14.0.dev20260817");
  CHECK(build.at("url") == "/api/v1/builds/2");
  CHECK_THAT(api.page(build.at("html_url").get<std::string>()),
             Catch::Contains("2.14.0.dev20260817"));
  CHECK(api.get("/api/v1/builds?name=2.14.0.dev20260817").body.at("builds") ==
        json::array({build}));
  CHECK(api.get("/api/v1/builds?name=2.14").body.at("builds").empty());
  CHECK(api.get("/api/v1/builds/99").status == 404);
  CHECK(api.get("/api/v1/builds/2?name=x").status == 400);
}

TEST_CASE("a stranger does not learn from a name whether this machine has the folder") {
  Api api;
  REQUIRE(BuildStore(*api.database).discover(BuildOrigin::folder, "/home/ada/build"));
  const std::string path = "/api/v1/builds?name=%2Fhome%2Fada%2Fbuild";
  CHECK(api.get(path).body.at("builds").size() == 1);
  CHECK(api.send("GET", path, "", kStranger).body.at("builds").empty());
  CHECK(api.send("GET", "/api/v1/builds/1", "", kStranger).body.at("name").is_null());
}

TEST_CASE("series and incidents are narrowed down to a variant") {
  Api api;
  api.fill();
  for (const std::string list : {"series", "incidents"}) {
    INFO(list);
    const auto path = "/api/v1/" + list + "?variant=";
    CHECK(api.get(path + "default").body.at(list).size() == 1);
    CHECK(api.get(path + "fp32-b1").body.at(list).empty());
  }
}

TEST_CASE("a series says what explains its steps: incidents, the commit named, other machines") {
  using std::chrono::seconds;
  Api api;
  api.fill();
  api.clock.advance(seconds(10));
  add_culprit(api);
  api.clock.advance(seconds(10));
  add_run_elsewhere(api);
  api.clock.advance(seconds(10));
  REQUIRE(api.post("/api/v1/incidents/1/accept", R"({"by": "ada", "reason": "wanted"})").status ==
          200);
  const auto history = api.get(kHistory).body;
  const auto& found = history.at("annotations");
  REQUIRE(found.size() == 4);
  CHECK(found[0].at("kind") == "opened");
  CHECK(found[0].at("text") == "incident 1: resnet18 cpu-train time +15.0 %");
  CHECK(found[0].at("url") == "/api/v1/incidents/1");
  CHECK(found[1].at("kind") == "culprit");
  CHECK(found[1].at("text") == "commit bed9e5a977bb93dcaf61");
  CHECK(found[1].at("url") == "/api/v1/bisections/2");
  CHECK(found[2].at("kind") == "machine");
  CHECK(found[2].at("text") == "measured on Model X, kernel 6.1");
  CHECK(found[2].at("time") == history.at("values")[1].at("measured_at"));
  CHECK(found[3].at("kind") == "accepted");
  CHECK(found[3].at("text") == "incident 1 accepted by ada: wanted");
}

TEST_CASE("a series that moved to another machine class has its history, or that of one named") {
  Api api;
  api.fill();
  const auto before = api.get(kHistory).body;
  CHECK(before.at("machine_class").at("name") == "Model X, 2 cores");
  api.clock.advance(std::chrono::seconds(10));
  add_run_elsewhere(api, "resnet18", "Model Y");
  const auto after = api.get(kHistory).body;
  CHECK(after.at("machine_class").at("name") == "Model Y, 2 cores");
  CHECK(after.at("values").size() == 1);
  const auto id = before.at("machine_class").at("id").dump();
  CHECK(api.get(std::string(kHistory) + "?machine_class=" + id).body == before);
  CHECK(api.get(std::string(kHistory) + "?machine_class=x").status == 400);
  CHECK(api.get(std::string(kHistory) + "?machine_class=77").body.at("values").empty());
}

TEST_CASE("what happened before the first value that is shown explains nothing") {
  Api api;
  api.fill();
  api.clock.advance(std::chrono::seconds(10));
  add_run_elsewhere(api);
  CHECK(api.get(kHistory + "?limit=1").body.at("annotations").empty());
  CHECK(api.get(kHistory + "?limit=2").body.at("annotations").size() == 2);
}

TEST_CASE("lists by name are read page by page, and what is added between moves no page") {
  Api api;
  api.fill();
  add_run_elsewhere(api, "vgg16");
  for (const std::string list : {"series", "workloads"}) {
    INFO(list);
    const auto path = "/api/v1/" + list + "?limit=1";
    const auto first = api.get(path);
    REQUIRE(first.body.at(list).size() == 1);
    REQUIRE(first.body.at("next").is_string());
    CHECK_THAT(first.headers.at("link"), Catch::Contains("limit=1>; rel=\"next\""));
    add_run_elsewhere(api, list == "series" ? "alexnet" : "albert");
    const auto next = first.headers.at("link").substr(1, first.headers.at("link").find('>') - 1);
    const auto second = api.get(next).body;
    REQUIRE(second.at(list).size() == 1);
    CHECK(second.at(list)[0].at("url") != first.body.at(list)[0].at("url"));
    CHECK(api.get("/api/v1/" + list).body.at("next").is_null());
    CHECK(api.get("/api/v1/" + list + "?before=nothing").status == 404);
    CHECK(api.get("/api/v1/" + list + "?limit=0").status == 400);
  }
  CHECK(api.get("/api/v1/series?before=resnet18%2Fcpu-train%2Fdefault%2Ftime")
            .body.at("series")[0]
            .at("workload") == "vgg16");
}

TEST_CASE("messages that wait are listed newest first, page by page") {
  Api api;
  api.fill();
  OutboxRow message;
  message.key = "comment:abc";
  message.incident = 1;
  message.kind = OutboxKind::comment;
  REQUIRE(OutboxStore(*api.database).queue(message));
  const auto first = api.get("/api/v1/outbox?limit=1").body;
  REQUIRE(first.at("messages").size() == 1);
  CHECK(first.at("messages")[0].at("key") == "comment:abc");
  const auto second = api.get("/api/v1/outbox?limit=1&before=" + first.at("next").dump()).body;
  CHECK(second.at("messages").at(0).at("key") == "open:abc");
  CHECK(second.at("next").is_null());
}

TEST_CASE("a nightly's address leads to it, whatever its folder is called") {
  Api api;
  const std::string name = "my build #7 50%?a&b";
  REQUIRE(BuildStore(*api.database).discover(BuildOrigin::nightly, name));
  const auto listed = api.get("/api/v1/nightlies").body.at("nightlies").at(0);
  CHECK(listed.at("name") == name);
  CHECK(api.get(listed.at("url").get<std::string>()).body == listed);
}
