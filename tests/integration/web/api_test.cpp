#include <catch2/catch.hpp>

#include "api_fixture.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using nlohmann::json;

TEST_CASE("everything stored can be read, and looks as described") {
  Api api;
  api.fill();
  for (const auto* list : {"nightlies", "incidents", "bisections", "builds"}) {
    const auto answer = api.get(std::string("/api/v1/") + list);
    CHECK(answer.status == 200);
    CHECK_FALSE(answer.body.at(list).empty());
    CHECK(answer.body.at("next").is_null());
  }
  const auto night = api.get("/api/v1/nightlies/1").body;
  CHECK(night.at("candidate").at("name") == "2.14.0.dev20260817");
  CHECK(night.at("verdicts").at(0).at("verdict") == "regressed");
  CHECK(night.at("verdicts").at(0).at("interval") == json::array({1.13, 1.17}));
  CHECK(api.get("/api/v1/incidents/1").body.at("messages").at(0).at("state") == "pending");
  const auto bisection = api.get("/api/v1/bisections/1").body;
  CHECK(bisection.at("answer").at("culprit") == "cccc");
  CHECK(bisection.at("events").at(0).at("body").at("commit") == "cccc");
}

TEST_CASE("nothing says where on this machine things lie") {
  Api api;
  api.fill();
  for (const auto* target :
       {"/api/v1/nightlies/1", "/api/v1/incidents/1", "/api/v1/bisections/1", "/api/v1/builds"}) {
    CHECK(api.get(target).body.dump().find("/builds/") == std::string::npos);
  }
}

TEST_CASE("an empty service answers with empty lists") {
  Api api;
  CHECK(api.get("/api/v1/nightlies").body == json{{"nightlies", json::array()}, {"next", nullptr}});
}

TEST_CASE("a list is read page by page, each entry once, newest first") {
  Api api;
  api.add_builds(7);
  std::vector<int> seen;
  std::string target = "/api/v1/builds?limit=3";
  for (int page = 0; page < 5; ++page) {
    const auto body = api.get(target).body;
    for (const auto& build : body.at("builds")) seen.push_back(build.at("id").get<int>());
    if (body.at("next").is_null()) break;
    target = "/api/v1/builds?limit=3&before=" + body.at("next").dump();
  }
  CHECK(seen == std::vector<int>{7, 6, 5, 4, 3, 2, 1});
}

TEST_CASE("parameters that mean nothing are refused") {
  Api api;
  for (const auto* target :
       {"/api/v1/builds?limit=0", "/api/v1/builds?limit=201", "/api/v1/builds?limit=x",
        "/api/v1/builds?before=-1", "/api/v1/builds?page=2", "/api/v1/builds?limit=1&limit=2",
        "/healthz?x=1"}) {
    INFO(target);
    CHECK(api.get(target).status == 400);
  }
}

TEST_CASE("what is not there is 404, as a problem") {
  Api api;
  for (const auto* target : {"/api/v1/nightlies/1", "/api/v1/incidents/99", "/api/v1/bisections/x",
                             "/api/v1/requests/0", "/api/v1/nothing", "/"}) {
    INFO(target);
    const auto answer = api.get(target);
    CHECK(answer.status == 404);
    CHECK(answer.headers.at("content-type") == "application/problem+json");
  }
}

TEST_CASE("a night is asked for once, however often the same request comes") {
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
  REQUIRE(requests.taken());
  REQUIRE(requests.answered(1, RequestState::done, R"({"bisection": 7})"));
  CHECK(api.get("/api/v1/requests/1").body.at("result") == json{{"bisection", 7}});
}

TEST_CASE("an order is stored only when it can be carried out") {
  Api api;
  for (const auto* body :
       {R"({"suspect": "a"})", R"({"good": "a", "bad": "b"})",
        R"({"good": "a", "bad": "b", "suspect": "c", "workloads": ["dlrm"], "device": "cpu",
            "mode": "infer", "metric": "leak_growth"})"}) {
    INFO(body);
    CHECK(api.post("/api/v1/bisections", body).status == 202);
  }
  for (const auto* body :
       {"", "{}", "[]", R"({"good": "a"})", R"({"suspect": 7})", R"({"suspect": "-x"})",
        R"({"suspect": "a", "unknown": 1})", R"({"suspect": "a", "device": "tpu"})",
        R"({"suspect": "a", "workloads": "dlrm"})", "{\"suspect\": \"a\xff\"}"}) {
    INFO(body);
    CHECK(api.post("/api/v1/bisections", body,
                   {{"Content-Length", std::to_string(std::string(body).size())}})
              .status == 400);
  }
  CHECK(api.post("/api/v1/nightlies", R"({"candidate": "b"})").status == 400);
  CHECK(api.get("/api/v1/requests/4").status == 404);
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
  for (int i = 0; i < 4; ++i) {
    api.post("/api/v1/nightlies", "{}", {{"Authorization", "Bearer wrong"}});
  }
  const auto limited = api.post("/api/v1/nightlies", "{}");
  CHECK(limited.status == 429);
  CHECK(std::stoi(limited.headers.at("retry-after")) > 0);
  api.clock.advance(std::chrono::minutes(1));
  CHECK(api.post("/api/v1/nightlies", "{}").body.at("id") == 1);
}

TEST_CASE("a sick daemon says so") {
  Api api;
  CHECK(api.get("/healthz").status == 200);
  {
    const std::scoped_lock lock(api.mutex);
    api.trouble = "the disk is full";
  }
  const auto sick = api.get("/healthz");
  CHECK(sick.status == 503);
  CHECK(sick.body.at("detail") == "the disk is full");
}

TEST_CASE("a method that is not there is told which ones are") {
  Api api;
  const auto answer = api.send("DELETE", "/api/v1/nightlies", "", {});
  CHECK(answer.status == 405);
  CHECK(answer.headers.at("allow") == "GET, HEAD, POST");
}
