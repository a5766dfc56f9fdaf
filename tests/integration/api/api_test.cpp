#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "raw_client.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using nlohmann::json;

TEST_CASE("everything stored can be read, and looks as described") {
  Api api;
  api.fill();
  for (const auto* list : {"comparisons", "incidents", "bisections", "builds"}) {
    const auto answer = api.get(std::string("/api/v1/") + list);
    CHECK(answer.status == 200);
    CHECK_FALSE(answer.body.at(list).empty());
    CHECK(answer.body.at("next").is_null());
  }
  const auto comparison = api.get("/api/v1/comparisons/1").body;
  CHECK(comparison.at("candidate").at("name") == "2.14.0.dev20260817");
  CHECK(comparison.at("verdicts").at(0).at("verdict") == "regressed");
  CHECK(comparison.at("verdicts").at(0).at("interval") == json::array({1.13, 1.17}));
  CHECK(comparison.at("verdicts").at(0).at("unit") == "ns");
  CHECK(api.get("/api/v1/incidents/1").body.at("comparison") == comparison.at("id"));
  CHECK(api.get("/api/v1/incidents/1").body.at("messages").at(0).at("state") == "pending");
  const auto bisection = api.get("/api/v1/bisections/1").body;
  CHECK(bisection.at("result").at("culprits").empty());
  CHECK(bisection.at("result").at("skipped").at(0).at("commit") == "cccc");
  const auto row = BisectionStore(*api.database).get(1).value();
  const auto steps = bisection::trace_of(*api.database, row).value();
  CHECK(bisection.at("bisection_trace") == report::json_list(steps));
  CHECK(bisection.at("bisection_trace").at(0).at("text") == "built cccc, the bad end");
}

TEST_CASE("a comparison has the members that the command line prints, and where it is found") {
  Api api;
  api.fill();
  auto answer = api.get("/api/v1/comparisons").body.at("comparisons").at(0);
  CHECK(answer.at("url") == "/api/v1/comparisons/1");
  for (const auto* more : {"url", "commits", "commits_that_can_matter", "seconds",
                           "benchmarks_lost", "self_test", "unread"}) {
    CHECK(answer.erase(more) == 1);
  }
  const auto row = ComparisonStore(*api.database).get(1).value();
  const auto at_work = api.service_now().doing.comparison;
  CHECK(answer == report::json_of(*api.database, row, at_work).value());
}

TEST_CASE("self-tests are listed with the bound that they give on the rate of false alarms") {
  Api api;
  const auto none = api.get("/api/v1/self-tests").body;
  CHECK(none.at("self_tests").empty());
  CHECK(none.at("all").at("series") == 0);
  CHECK(none.at("all").at("false_alarms_bound") == 1);

  api.fill();
  for (int i = 0; i < 20; ++i) api.add_self_test(Verdict::unchanged);
  const auto quiet = api.get("/api/v1/self-tests").body;
  CHECK(quiet.at("all").at("series") == 20);
  // For 20 without an alarm: 1 - 0.05^(1/20), which the rule of three calls 3/20.
  CHECK(quiet.at("all").at("false_alarms_bound").get<double>() == Approx(0.1391).epsilon(0.001));
  CHECK(quiet.at("self_tests").at(0).at("metric") == "time");

  api.add_self_test(Verdict::improved);
  api.add_self_test(Verdict::failed);
  const auto one = api.get("/api/v1/self-tests").body.at("all");
  CHECK(one.at("series") == 21);
  CHECK(one.at("improved") == 1);
  CHECK(one.at("false_alarms_bound") > quiet.at("all").at("false_alarms_bound"));
}

TEST_CASE("an accepted incident says by whom and why, a comparison what is to be said of it") {
  Api api;
  api.fill();
  CHECK(api.get("/api/v1/incidents/1").body.at("acceptance").is_null());
  CHECK(api.get("/api/v1/comparisons/1").body.at("summary").empty());
  REQUIRE(IncidentStore(*api.database).accept(1, {"ada", "the price", 86'400'000}));
  REQUIRE(
      ComparisonStore(*api.database)
          .set_summary(1, R"({"sentences": ["The machine is another."], "left_out": []})", 0.99));
  const auto acceptance = api.get("/api/v1/incidents/1").body.at("acceptance");
  CHECK(acceptance == json{{"by", "ada"}, {"reason", "the price"}, {"at", "1970-01-02T00:00:00Z"}});
  CHECK(api.get("/api/v1/incidents").body.at("incidents").at(0).at("state") == "closed");
  CHECK(api.get("/api/v1/comparisons/1").body.at("summary") ==
        json::array({"The machine is another."}));
}

TEST_CASE("the page states the bound on false alarms and quotes what others wrote") {
  Api api;
  CHECK_THAT(api.page("/"), Catch::Contains("No build has been compared with itself yet"));
  api.fill();
  for (int i = 0; i < 20; ++i) api.add_self_test(Verdict::unchanged);
  BuildStore(*api.database).discover(BuildOrigin::nightly, "<script>alert(1)</script>").value();
  const auto hostile = BuildStore(*api.database).list().value().back().id;
  REQUIRE(ComparisonStore(*api.database).open({Purpose::requested, hostile, 1}, 1));
  const auto page = api.page("/");
  CHECK_THAT(
      page, Catch::Contains("0 of 20 series of builds compared with themselves were called changed "
                            "so far; the <span class=\"whole\">false-alarm</span> rate is at "
                            "most 13.9 %"));
  CHECK_THAT(page, Catch::Contains("cpu-train</span> time +15.0 %"));
  CHECK_THAT(page, Catch::Contains(R"(<span class="state open">open</span>)"));
  CHECK_THAT(page, Catch::Contains("2.14.0.dev20260817"));
  CHECK_THAT(page, Catch::Contains("&lt;script&gt;"));
  CHECK_THAT(page, !Catch::Contains("<script"));
}

TEST_CASE("the page needs no more than its policy allows: one style sheet of its own") {
  Api api;
  api.fill();
  const auto page = api.page("/");
  CHECK_THAT(page, Catch::Contains(R"(<link rel="stylesheet" href="style.css">)"));
  CHECK_THAT(page, !Catch::Contains("style=") && !Catch::Contains("<style"));
  CHECK_THAT(page, !Catch::Contains("http:") && !Catch::Contains("https:"));
  const auto sheet = api.get("/style.css");
  CHECK(sheet.status == 200);
  CHECK(sheet.headers.at("content-type") == "text/css; charset=utf-8");
  CHECK(sheet.headers.at("cache-control") == "no-cache");
  for (const auto* way_out : {"url(", "@import", "@font-face"}) {
    CHECK_THAT(sheet.text, !Catch::Contains(way_out));
  }
}

TEST_CASE("a style sheet that the browser has is not sent again") {
  Api api;
  const auto tag = api.get("/style.css").headers.at("etag");
  const auto ask = [&](const std::string& tags) {
    RawClient client(api.server->port());
    client.send(
        "GET /style.css HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIf-None-Match: " +
        tags + "\r\n\r\n");
    return client.rest();
  };
  for (const auto& tags : {tag, "W/" + tag, "\"old\", " + tag}) {
    const auto answer = ask(tags);
    INFO(answer);
    CHECK(status_of_answer(answer) == 304);
    CHECK(answer.find("ETag: " + tag) != std::string::npos);
    CHECK(answer.find("Cache-Control: no-cache") != std::string::npos);
    CHECK(answer.find("no-store") == std::string::npos);
    CHECK(answer.find("Content-Length") == std::string::npos);
    CHECK(answer.ends_with("\r\n\r\n"));
  }
  CHECK(status_of_answer(ask("\"old\"")) == 200);
}

TEST_CASE("nothing says where on this machine things lie") {
  Api api;
  api.fill();
  for (const auto* series :
       {"/api/v1/comparisons/1", "/api/v1/incidents/1", "/api/v1/bisections/1", "/api/v1/builds"}) {
    CHECK(api.get(series).body.dump().find("/builds/2.14") == std::string::npos);
  }
  CHECK_THAT(api.page("/"), !Catch::Contains("/builds/"));
}

TEST_CASE("an empty service answers with empty lists") {
  Api api;
  CHECK(api.get("/api/v1/comparisons").body ==
        json{{"comparisons", json::array()}, {"next", nullptr}});
}

TEST_CASE("a list is read page by page, each entry once, newest first") {
  Api api;
  api.add_builds(7);
  std::vector<int> seen;
  std::string series = "/api/v1/builds?limit=3";
  for (int page = 0; page < 5; ++page) {
    const auto body = api.get(series).body;
    for (const auto& build : body.at("builds")) seen.push_back(build.at("id").get<int>());
    if (body.at("next").is_null()) break;
    series = "/api/v1/builds?limit=3&before=" + body.at("next").dump();
  }
  CHECK(seen == std::vector<int>{7, 6, 5, 4, 3, 2, 1});
}

TEST_CASE("parameters that mean nothing are refused") {
  Api api;
  for (const auto* series :
       {"/api/v1/builds?limit=0", "/api/v1/builds?limit=201", "/api/v1/builds?limit=x",
        "/api/v1/builds?before=-1", "/api/v1/builds?page=2", "/api/v1/builds?limit=1&limit=2",
        "/healthz?x=1"}) {
    INFO(series);
    CHECK(api.get(series).status == 400);
  }
}

TEST_CASE("what is not there is 404, as a problem") {
  Api api;
  for (const auto* series :
       {"/api/v1/comparisons/1", "/api/v1/incidents/99", "/api/v1/bisections/x",
        "/api/v1/requests/0", "/api/v1/nothing", "/index.html"}) {
    INFO(series);
    const auto answer = api.get(series);
    CHECK(answer.status == 404);
    CHECK(answer.headers.at("content-type") == "application/problem+json");
  }
}

TEST_CASE("a comparison is asked for once, however often the same request comes") {
  Api api;
  const auto first = api.post("/api/v1/nightlies", "{}", {{"Idempotency-Key", "run-1"}});
  CHECK(first.status == 202);
  CHECK(first.headers.at("location") == "/api/v1/requests/1");
  CHECK(first.body == json{{"id", 1}, {"state", "pending"}});
  const auto again = api.post("/api/v1/nightlies", "{}", {{"Idempotency-Key", "run-1"}});
  CHECK(again.status == 202);
  CHECK(again.body.at("id") == 1);
  CHECK(api.woken == 1);
  CHECK(api.post("/api/v1/nightlies", "{}").body.at("id") == 2);
  CHECK(api.post("/api/v1/nightlies", "{}").body.at("id") == 3);

  const auto other = api.post("/api/v1/nightlies", R"({"candidate": "b", "baseline": "a"})",
                              {{"Idempotency-Key", "run-1"}});
  CHECK(other.status == 409);
}

TEST_CASE("a request can be watched") {
  Api api;
  REQUIRE(api.post("/api/v1/bisections", R"({"suspect": "abc123"})").status == 202);
  const auto pending = api.get("/api/v1/requests/1").body;
  CHECK(pending.at("state") == "pending");
  CHECK(pending.at("body") == json{{"suspect", "abc123"}});
  RequestStore requests(*api.database);
  REQUIRE(requests.claim(1));
  REQUIRE(requests.answer(1, RequestState::done, R"({"bisection": 7})"));
  CHECK(api.get("/api/v1/requests/1").body.at("result") == json{{"bisection", 7}});
}

TEST_CASE("an order is stored only when it can be carried out") {
  Api api;
  for (const auto* body :
       {R"({"suspect": "a"})", R"({"good": "a", "bad": "b"})",
        R"({"good": "a", "bad": "b", "suspect": "c", "workloads": ["dlrm"], "device": "cpu",
            "mode": "infer", "variant": "bf16,threads=2", "metric": "leak_growth"})"}) {
    INFO(body);
    CHECK(api.post("/api/v1/bisections", body).status == 202);
  }
  for (const auto* body :
       {"", "{}", "[]", R"({"good": "a"})", R"({"suspect": 7})", R"({"suspect": "-x"})",
        R"({"suspect": "a", "unknown": 1})", R"({"suspect": "a", "device": "tpu"})",
        R"({"suspect": "a", "variant": "int3"})", R"({"suspect": "a", "workloads": "dlrm"})",
        "{\"suspect\": \"a\xff\"}"}) {
    INFO(body);
    CHECK(api.post("/api/v1/bisections", body,
                   {{"Content-Length", std::to_string(std::string(body).size())}})
              .status == 400);
  }
  CHECK(api.post("/api/v1/nightlies", R"({"candidate": "b"})").status == 400);
  CHECK(api.get("/api/v1/requests/4").status == 404);
}

TEST_CASE("a measurement is asked for by a build and passes that time nothing") {
  Api api;
  const auto status_of = [&](const std::string& body) {
    return api.post("/api/v1/measurements", body).status;
  };
  CHECK(status_of(R"({"candidate": "n2", "passes": ["coverage", "profile"]})") == 202);
  CHECK(status_of(R"({"candidate": "n2", "passes": ["timing"]})") == 400);
  CHECK(status_of(R"({"candidate": "n2", "passes": []})") == 400);
  CHECK(status_of(R"({"candidate": "n2"})") == 400);
  CHECK(status_of(R"({"passes": ["coverage"]})") == 400);
  CHECK(status_of(R"({"candidate": "n2", "passes": ["coverage"], "baseline": "n1"})") == 400);
}

TEST_CASE("a body that is no JSON by its type is not read") {
  Api api;
  CHECK(api.post("/api/v1/nightlies", "{}", {{"Content-Type", "text/plain"}}).status == 415);
  CHECK(
      api.post("/api/v1/nightlies", "a=b", {{"Content-Type", "application/x-www-form-urlencoded"}})
          .status == 415);
}

TEST_CASE("nothing is written without the token") {
  Api api;
  const auto refused = api.post("/api/v1/nightlies", "{}", {{"Authorization", "Bearer wrong"}});
  CHECK(refused.status == 401);
  CHECK(refused.headers.at("www-authenticate") == "Bearer");
  const auto guess = [&] {
    return api.post("/api/v1/nightlies", "{}", {{"Authorization", "Bearer wrong"}});
  };
  for (int i = 0; i < 4; ++i) CHECK(guess().status == 401);
  const auto limited = guess();
  CHECK(limited.status == 429);
  CHECK(std::stoi(limited.headers.at("retry-after")) > 0);
  CHECK(api.post("/api/v1/nightlies", "{}").body.at("id") == 1);
}

TEST_CASE("a daemon that works, but not as it should, says so") {
  Api api;
  const auto answer = api.get("/healthz");
  CHECK(answer.status == 200);
  CHECK(answer.body.at("status") == "ok");
  CHECK(answer.body.at("warnings") == json{"not as it should be"});
}

TEST_CASE("a sick daemon says so") {
  Api api;
  CHECK(api.get("/healthz").status == 200);
  {
    const std::scoped_lock lock(api.mutex);
    api.problems = {{"comparison", "7", 1'786'000'000'000, "put off"}};
  }
  const auto waiting = api.get("/healthz");
  CHECK(waiting.status == 200);
  CHECK(waiting.body.at("status") == "degraded");
  CHECK(waiting.body.at("problems").at(0).at("item") == "7");
  CHECK(waiting.body.at("problems").at(0).at("since") == "2026-08-06T07:06:40Z");
  {
    const std::scoped_lock lock(api.mutex);
    api.problems.push_back({"outbox", "", 1'786'000'000'000, "messages cannot be delivered"});
  }
  const auto sick = api.get("/healthz");
  CHECK(sick.status == 503);
  CHECK(sick.body.at("status") == "failing");
  CHECK(sick.body.at("problems").at(1).at("source") == "outbox");
}

TEST_CASE("an unknown method is answered with those that exist") {
  Api api;
  for (const std::string method : {"DELETE", "QUERY", "get"}) {
    INFO(method);
    const auto answer = api.send(method, "/api/v1/nightlies?limit=1", "", {});
    CHECK(answer.status == 405);
    CHECK(answer.headers.at("allow") == "GET, HEAD, POST");
    CHECK(api.send(method, "/nowhere", "", {}).status == 404);
  }
}

TEST_CASE("a request that can never be carried out is refused with 422, and is not stored") {
  Api api;
  api.refusal = "unknown build \"a\"";
  for (const auto* path : {"/api/v1/nightlies", "/api/v1/comparisons"}) {
    const auto refused = api.post(path, R"({"candidate": "a", "baseline": "b"})");
    CHECK(refused.status == 422);
    CHECK(refused.body.at("title") == "Unprocessable Content");
    CHECK(refused.body.at("detail") == "unknown build \"a\"");
  }
  CHECK(api.post("/api/v1/bisections", R"({"suspect": "a"})").status == 422);
  CHECK(api.get("/api/v1/requests").body.at("requests").empty());
  CHECK(api.woken == 0);
}

TEST_CASE("a request says who asked for it, to those who may know") {
  Api api;
  REQUIRE(api.post("/api/v1/nightlies", "{}").status == 202);
  CHECK(api.get("/api/v1/requests/1").body.at("asked_by") == "a test");
  const Api::Headers stranger{{"X-Forwarded-For", "192.0.2.1"}};
  CHECK(api.send("GET", "/api/v1/requests/1", "", stranger).body.at("asked_by").is_null());
}
