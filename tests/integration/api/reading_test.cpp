// What an author of a dashboard reads: lists with filters, links, tags, compression, other origins.
#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/setback_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;

namespace {

const Series kSeries{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};

}  // namespace

TEST_CASE("the last page says that it is the last, also when it is full") {
  Api api;
  api.add_builds(6);
  const auto first = api.get("/api/v1/builds?limit=3").body;
  CHECK(first.at("builds").size() == 3);
  CHECK(first.at("next") == 4);
  const auto second = api.get("/api/v1/builds?limit=3&before=4").body;
  CHECK(second.at("builds").size() == 3);
  CHECK(second.at("next").is_null());
  CHECK(api.get("/api/v1/builds?limit=6").body.at("next").is_null());
}

TEST_CASE("incidents are filtered by what they are and by what they are about") {
  Api api;
  api.fill();
  REQUIRE(IncidentStore(*api.database).acknowledge(api.add_incident("other"), {"ada", "", 1}));
  const auto count = [&](const std::string& query) {
    return api.get("/api/v1/incidents?" + query).body.at("incidents").size();
  };
  CHECK(count("state=open") == 1);
  CHECK(count("state=acknowledged") == 1);
  CHECK(count("state=closed") == 0);
  CHECK(count("kind=regression&workload=resnet18") == 2);
  CHECK(count("configuration=cpu-train&metric=time") == 2);
  CHECK(count("workload=dlrm") == 0);
  const auto page = api.get("/api/v1/incidents?metric=time&limit=1").body;
  CHECK(page.at("next") == 2);
  CHECK(api.get("/api/v1/incidents?metric=time&limit=1&before=2").body.at("next").is_null());
}

TEST_CASE("the header Link leads to the next page with the same filters") {
  Api api;
  api.add_builds(3);
  const auto first = api.get("/api/v1/builds?limit=2&state=ready&origin=nightly");
  const std::string link = "/api/v1/builds?before=2&limit=2&origin=nightly&state=ready";
  CHECK(first.headers.at("link") == "<" + link + ">; rel=\"next\"");
  const auto last = api.get(link);
  CHECK(last.body.at("builds").size() == 1);
  CHECK(last.headers.count("link") == 0);
  api.fill();
  api.add_incident("other");
  const auto incidents = api.get("/api/v1/incidents?limit=1&metric=time");
  CHECK(incidents.headers.at("link") ==
        "</api/v1/incidents?before=2&limit=1&metric=time>; rel=\"next\"");
}

TEST_CASE("incidents and comparisons are found by their day") {
  Api api;
  api.fill();
  const auto opened_at =
      api.get("/api/v1/incidents").body.at("incidents").at(0).at("opened_at").get<std::string>();
  const auto day = opened_at.substr(0, 10);
  for (const std::string name : {"incidents", "comparisons"}) {
    const auto count = [&](const std::string& query) {
      return api.get("/api/v1/" + name + "?" + query).body.at(name).size();
    };
    CHECK(count("from=" + day) == 1);
    CHECK(count("to=" + day) == 1);
    CHECK(count("from=" + day + "&to=" + day) == 1);
    CHECK(count("from=2099-01-01") == 0);
    CHECK(count("to=1999-12-31") == 0);
    CHECK(count("from=0001-01-01&to=9999-12-31") == 1);
    for (const std::string wrong : {"2026-02-31", "2026-8-1", "yesterday"}) {
      const auto answer = api.get("/api/v1/" + name + "?from=" + wrong);
      CHECK(answer.status == 400);
      CHECK_THAT(answer.text, Contains("must be a date"));
    }
  }
}

TEST_CASE("a bisection is found by its culprit and by its ends") {
  Api api;
  api.fill();
  const std::string culprit = "33de6cd2393f00000000000000000000deadbeef";
  BisectionStore bisections(*api.database);
  BisectionRow row;
  row.good = "aaaa0000";
  row.bad = "bbbb1111";
  row.spec_json = to_json(bisection::BisectionSpec{});
  row.created_at = 1;
  row = bisections.open(row).value();
  bisection::BisectionResult result;
  result.culprits.push_back({.commits = {culprit},
                             .parent = "aaaa0000",
                             .confidence = 0.9973,
                             .effects = {{kSeries, 0.1389, 0.1275, 0.1508, 12}},
                             .verified = "against its parent, 12 fresh pairs"});
  REQUIRE(bisections.end(row, to_json(result), 1));
  const auto ids = [&](const std::string& commit) {
    const auto answer = api.get("/api/v1/bisections?commit=" + commit);
    std::vector<Id> listed;
    for (const auto& each : answer.body.at("bisections")) listed.push_back(each.at("id"));
    return listed;
  };
  CHECK(ids("33de") == std::vector<Id>{2});
  const auto named = api.get("/api/v1/bisections/2").body.at("result").at("culprits");
  CHECK(named.at(0).at("commits") == nlohmann::json::array({culprit}));
  CHECK(ids(culprit) == std::vector<Id>{2});
  CHECK(ids("aaaa") == std::vector<Id>{2, 1});
  CHECK(ids("bbbb1111") == std::vector<Id>{2});
  CHECK(ids("ffff").empty());
  for (const auto& wrong : std::vector<std::string>{"33d", "HEAD", "33DE", culprit + "0"}) {
    CHECK(api.get("/api/v1/bisections?commit=" + wrong).status == 400);
  }
}

TEST_CASE("an incident says where its page and its issue are") {
  Api api;
  api.fill();
  const auto incident = [&] { return api.get("/api/v1/incidents/1").body; };
  CHECK(incident().at("html_url") == "/incidents/1");
  CHECK(incident().at("issue_url").is_null());
  REQUIRE(OutboxStore(*api.database).mark_sending("open:abc"));
  REQUIRE(OutboxStore(*api.database).mark_sent("open:abc", 17, api.clock.wall_now()));
  CHECK(incident().at("issue_url") == "https://github.com/owner/issues/issues/17");
}

TEST_CASE("an incident says what measuring it again came to") {
  Api api;
  api.fill();
  CHECK(api.get("/api/v1/incidents/1").body.at("rechecks").empty());
  ComparisonStore comparisons(*api.database);
  NewComparison recheck{.purpose = Purpose::recheck, .candidate = 2, .baseline = 1, .incident = 1};
  const auto row = comparisons.open(recheck, 1).value();
  VerdictRow verdict;
  verdict.comparison = row.id;
  verdict.series = IncidentStore(*api.database).get(1).value().series.at(0).series;
  verdict.verdict = Verdict::regressed;
  verdict.ratio = 1.12;
  REQUIRE(comparisons.add_verdict(verdict));
  REQUIRE(comparisons.advance(row, ComparisonState::reported, 2));
  REQUIRE(comparisons.cancel(comparisons.open(recheck, 3).value().id, "by hand", 4));
  const auto rechecks = api.get("/api/v1/incidents/1").body.at("rechecks");
  REQUIRE(rechecks.size() == 2);
  CHECK(rechecks[0].at("outcome") == "none");
  CHECK(rechecks[0].at("reason") == "by hand");
  CHECK(rechecks[1].at("outcome") == "still_there");
  CHECK(rechecks[1].at("effects").at(0).at("ratio") == 1.12);
  CHECK(rechecks[1].at("comparison") == row.id);
  CHECK_THAT(api.page("/incidents/1"),
             Contains("Measured again") && Contains("still there") && Contains("+12.0 %"));
}

TEST_CASE("a filter that no entry can have is refused with what is allowed") {
  Api api;
  for (const auto* path :
       {"/api/v1/incidents?state=opne", "/api/v1/incidents?kind=slow", "/api/v1/builds?origin=x",
        "/api/v1/comparisons?purpose=x", "/api/v1/bisections?state=x", "/api/v1/requests?kind=x",
        "/api/v1/nightlies?state=x"}) {
    INFO(path);
    const auto answer = api.get(path);
    CHECK(answer.status == 400);
    CHECK_THAT(answer.text, Contains("must be one of"));
  }
  CHECK_THAT(api.get("/api/v1/incidents?colour=red").text, Contains("limit, before, state, kind"));
}

TEST_CASE("a nightly is found by its name, with the comparison that judged it") {
  Api api;
  api.fill();
  const auto nightly = api.get("/api/v1/nightlies/2.14.0.dev20260817").body;
  CHECK(nightly.at("comparison").at("url") == "/api/v1/comparisons/1");
  CHECK(nightly.at("url") == "/api/v1/nightlies/2.14.0.dev20260817");
  CHECK(api.get("/api/v1/nightlies").body.at("nightlies").size() == 2);
  CHECK(api.get("/api/v1/nightlies?limit=1").body.at("next") == 2);
  CHECK(api.get("/api/v1/nightlies?state=rejected").body.at("nightlies").empty());
  CHECK(api.get("/api/v1/nightlies/2026-13-01").status == 404);
}

TEST_CASE("what is listed says where it is") {
  Api api;
  api.fill();
  REQUIRE(api.post("/api/v1/nightlies", "{}").status == 202);
  for (const std::string name : {"comparisons", "incidents", "bisections", "requests"}) {
    const auto entry = api.get("/api/v1/" + name).body.at(name).at(0);
    CHECK(api.get(entry.at("url").get<std::string>()).body.at("id") == entry.at("id"));
  }
}

TEST_CASE("messages that have not been delivered are listed with the reason") {
  Api api;
  api.fill();
  const auto messages = api.get("/api/v1/outbox").body.at("messages");
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].at("key") == "open:abc");
  CHECK(messages[0].at("state") == "pending");
  auto expected = report::json_of(OutboxStore(*api.database).unsent().value().front());
  expected["since"] = nullptr;  // nothing of it has failed yet
  CHECK(messages[0] == expected);
  CHECK(messages[0].at("target") == nullptr);
  OutboxRow webhook;
  webhook.key = "webhook-chat-opened-1";
  webhook.kind = OutboxKind::webhook;
  webhook.target = "webhook/chat";
  REQUIRE(OutboxStore(*api.database).queue(webhook));
  CHECK(api.get("/api/v1/outbox").body.at("messages")[0].at("target") == "webhook/chat");
}

TEST_CASE("a request has the members that the command line prints, and where it is found") {
  Api api;
  REQUIRE(api.post("/api/v1/bisections", R"({"suspect": "abc123"})").status == 202);
  REQUIRE(SetbackStore(*api.database)
              .record({.key = {ItemKind::request, "1"}, .since = 1, .error = "no network"}));
  auto answer = api.get("/api/v1/requests/1").body;
  CHECK_THAT(answer.at("waits_for").get<std::string>(), Contains("no network"));
  answer.erase("url");
  const auto row = RequestStore(*api.database).get(1).value();
  CHECK(answer == report::json_of(*api.database, row).value());
}

TEST_CASE("a series has its unit, and a path that names none is not there") {
  Api api;
  api.fill();
  const auto history = api.get("/api/v1/series/resnet18/cpu-train/default/time");
  CHECK(history.status == 200);
  CHECK(history.body.at("unit") == "ns");
  auto value = history.body.at("values").at(0);
  CHECK(value.at("value") == 30);
  CHECK(value.at("run").at("url") == "/api/v1/runs/" + value.at("run").at("id").dump());
  value["run"].erase("url");
  const auto stored = RunStore(*api.database).history(kSeries, 1).value().front();
  CHECK(value == report::json_of(stored, BuildStore(*api.database).get(stored.build).value()));
  CHECK(api.get("/api/v1/series?workload=resnet18").body.at("series").size() == 1);
  CHECK(api.get("/api/v1/series?workload=vgg16").body.at("series").empty());
  CHECK(api.get("/api/v1/series?limit=0").status == 400);
  CHECK(api.get("/api/v1/series/resnet18/tpu-train/default/time").status == 404);
  CHECK(api.get("/api/v1/series/resnet18/cpu-train/default/speed").status == 404);
}

TEST_CASE("a series without values is empty, one of a workload that nobody knows is not there") {
  Api api;
  const std::string known = "/api/v1/series/resnet18/cpu-train/default/time";
  const std::string typo = "/api/v1/series/resnet81/cpu-train/default/time";
  CHECK(api.get(known).body.at("values").empty());
  for (const auto& path : {typo, typo + "/past"}) {
    const auto answer = api.get(path);
    CHECK(answer.status == 404);
    CHECK(answer.body.at("detail") == "no workload \"resnet81\"");
  }
}

TEST_CASE("a request for two builds is called a comparison, and found by either word") {
  Api api;
  const auto number = [&](const std::string& kind) {
    return api.get("/api/v1/requests?kind=" + kind).body.at("requests").size();
  };
  REQUIRE(api.post("/api/v1/nightlies", "{}").status == 202);
  REQUIRE(api.post("/api/v1/nightlies", R"({"candidate": "b", "baseline": "a"})").status == 202);
  CHECK(api.get("/api/v1/requests/1").body.at("kind") == "nightly");
  CHECK(api.get("/api/v1/requests/2").body.at("kind") == "comparison");
  CHECK(number("comparison") == 1);
  CHECK(number("nightly") == 2);
  CHECK(number("measurement") == 0);
}

TEST_CASE("a monitor reads what does not work, what waits, and when data came last") {
  Api api;
  api.fill();
  {
    const std::scoped_lock lock(api.mutex);
    api.problems = {{"outbox", "", 1'786'000'000'000, "messages cannot be delivered"}};
  }
  const auto metrics = api.get("/metrics");
  CHECK(metrics.headers.at("content-type") == "text/plain; version=0.0.4; charset=utf-8");
  CHECK_THAT(metrics.text, Contains("torchwatch_problems{source=\"outbox\"} 1\n"));
  CHECK_THAT(metrics.text, Contains("torchwatch_problems{source=\"disk\"} 0\n"));
  CHECK_THAT(metrics.text, Contains("# TYPE torchwatch_comparisons_unfinished gauge"));
  CHECK_THAT(metrics.text, Contains("torchwatch_comparisons_unfinished{state=\"ready\"} 0\n"));
  CHECK_THAT(metrics.text, Contains("torchwatch_healthy 0\n"));
  CHECK_THAT(metrics.text, Contains("torchwatch_incidents{state=\"open\"} 1\n"));
  CHECK_THAT(metrics.text, Contains("torchwatch_outbox_messages{state=\"pending\"} 1\n"));
  CHECK_THAT(metrics.text, Contains("torchwatch_last_nightly_ended_seconds 0\n"));
  CHECK_THAT(metrics.text, Contains("torchwatch_cache_disk_free_bytes 5000000\n"));
  const auto version = api.get("/api/v1/openapi.json").body.at("info").at("version");
  CHECK_THAT(metrics.text, Contains("torchwatch_build_info{version=" + version.dump() + "} 1\n"));
  CHECK_THAT(api.page("/"), Contains("<p>torchwatch " + version.get<std::string>() + ". "));
}

TEST_CASE("the description is served as it is tested") {
  Api api;
  CHECK(api.get("/api/v1/openapi.json").body == api_description().document());
}

TEST_CASE("what has not changed is not sent again") {
  Api api;
  api.fill();
  const auto first = api.get("/api/v1/comparisons");
  const auto tag = first.headers.at("etag");
  CHECK(first.headers.at("cache-control") == "private, no-cache");
  const auto again = [&] {
    return api.send("GET", "/api/v1/comparisons", "", {{"If-None-Match", tag}});
  };
  CHECK(again().status == 304);
  CHECK(again().text.empty());
  REQUIRE(ComparisonStore(*api.database).cancel(1, "by hand", api.clock.wall_now()));
  CHECK(again().status == 200);
}

TEST_CASE("a long answer is compressed for who takes that, and says that it is") {
  Api api;
  api.add_builds(50);
  const std::string path = "/api/v1/builds?limit=50";
  const auto plain = api.send("GET", path, "", {{"Accept-Encoding", "identity"}});
  CHECK(plain.headers.count("content-encoding") == 0);
  const auto refused = api.send("GET", path, "", {{"Accept-Encoding", "gzip;q=0"}});
  CHECK(refused.headers.count("content-encoding") == 0);
  const auto small = api.compressed(path);
  CHECK_THAT(small, Contains("Content-Encoding: gzip"));
  CHECK_THAT(small, Contains("Vary: Origin, Accept-Encoding"));
  CHECK_THAT(small, Contains("ETag: W/" + plain.headers.at("etag")));
  CHECK(small.size() < plain.text.size() / 2);
}

TEST_CASE("pages of other origins may read only where that is set") {
  Api api;
  const auto ask = [&](const std::string& method, const std::string& origin) {
    return api.send(method, "/api/v1/builds", "", {{"Origin", origin}}).headers;
  };
  CHECK(ask("GET", "https://grafana.example").at("access-control-allow-origin") ==
        "https://grafana.example");
  CHECK(ask("GET", "https://grafana.example").at("vary") == "Origin");
  CHECK(ask("GET", "https://evil.example").count("access-control-allow-origin") == 0);
  CHECK(ask("OPTIONS", "https://grafana.example").at("access-control-allow-methods") ==
        "GET, HEAD");
  CHECK(ask("OPTIONS", "https://evil.example").count("access-control-allow-origin") == 0);
}

TEST_CASE("a monitor reads for which cause an alarm is open, and that none is for the others") {
  Api api;
  OutboxRow message;
  message.key = "alarm-1";
  message.title = "torchwatch alarm";
  REQUIRE(AlarmStore(*api.database)
              .raise({.cause = AlarmCause::no_verdict, .since = 1, .issue_number = {}}, message));
  const auto metrics = api.get("/metrics").text;
  CHECK_THAT(metrics, Contains("torchwatch_alarms{cause=\"no_verdict\"} 1\n"));
  for (const std::string cause : {"no_nightly", "no_delivery", "no_self_test"}) {
    CHECK_THAT(metrics, Contains("torchwatch_alarms{cause=\"" + cause + "\"} 0\n"));
  }
}

TEST_CASE("who reads waits for nothing that is being stored, and sees what was before it") {
  Api api;
  api.fill();
  // Answers come from other threads, which may not wait for this one.
  REQUIRE(api.database->transact([&]() -> Status {
    TW_TRY_VOID(ComparisonStore(*api.database).cancel(1, "by hand", 1));
    CHECK(api.get("/api/v1/comparisons/1").body.at("state") != "cancelled");
    CHECK(api.send("GET", "/healthz", "", {}).status == 200);
    CHECK_THAT(api.page("/comparisons/1"), !Contains("cancelled"));
    return {};
  }));
  CHECK(api.get("/api/v1/comparisons/1").body.at("state") == "cancelled");
}
