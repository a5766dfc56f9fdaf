// Who is signed in on the pages, and who is not.
#include <catch2/catch.hpp>

#include "browser.hpp"
#include "one_token.hpp"
#include "raw_client.hpp"
#include "torchwatch/access/sign_in_store.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/http/problem.hpp"
#include "torchwatch/site/view.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;

namespace {

struct Pages : Api {
  Pages() { fill(); }
  IncidentState state_of_incident() { return IncidentStore(*database).get(1).value().state; }
  std::vector<SignInRow> stored() { return SignInStore(*database).list(clock.wall_now()).value(); }
};

bool is_signed_in(const Api::Answer& answer) {
  return answer.text.find("Signed in with ") != std::string::npos;
}

}  // namespace

TEST_CASE("a person signs in with a token, and only the hash of the cookie is stored") {
  Pages api;
  Browser browser(api);
  CHECK_THAT(browser.get("/incidents/1").text,
             Contains("href=\"../sign-in?to=%2Fincidents%2F1\">Sign in</a>"));
  CHECK_THAT(browser.get("/sign-in?to=%2Fincidents%2F1").text,
             Contains("name=\"to\" value=\"/incidents/1\"") && Contains("type=\"password\""));
  const auto answer = browser.sign_in(kTriagerToken, "/incidents/1");
  CHECK(answer.status == 303);
  CHECK(answer.headers.at("location") == "./incidents/1");
  CHECK_THAT(answer.headers.at("set-cookie"),
             Contains("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict") &&
                 !Contains("Secure") && !Contains(kTriagerToken));
  CHECK_THAT(browser.get("/incidents/1").text,
             Contains("Signed in with ada") && Contains("action=\"../sign-out\""));
  REQUIRE(api.stored().size() == 1);
  CHECK(api.stored()[0].sha256 == digest::sha256_hex(id_in(browser.cookie)));
  CHECK(id_in(browser.cookie).size() == 64);
  CHECK_THAT(browser.get("/sign-in").text,
             Contains("You are signed in with ada, which may: read,triage."));
}

TEST_CASE("wrong tokens are limited as those in a header are, and never shut out the right one") {
  Pages api;
  Browser browser(api);
  const auto first = browser.sign_in("tw_wrong-one");
  CHECK(first.status == 401);
  CHECK_THAT(first.text, Contains("This token is not known, or was revoked.") &&
                             Contains("type=\"password\"") && !Contains("tw_wrong-one"));
  for (int i = 0; i < 4; ++i) CHECK(browser.sign_in("tw_wrong").status == 401);
  const auto limited = browser.sign_in("tw_wrong");
  CHECK(limited.status == 429);
  CHECK(limited.headers.contains("retry-after"));
  CHECK_THAT(limited.text, Contains("too many wrong tokens") && Contains("<h1>"));
  auto header = browser.always;
  header["Authorization"] = "Bearer tw_wrong";
  CHECK(api.send("GET", "/api/v1/incidents", "", header).status == 429);
  CHECK(browser.sign_in("").status == 429);
  CHECK(browser.sign_in(kTriagerToken).status == 303);
  CHECK(is_signed_in(browser.get("/")));
}

TEST_CASE("a sign-in ends after twelve hours, whatever is done with it") {
  Pages api;
  Browser browser(api);
  browser.sign_in(kTriagerToken);
  for (int hours = 0; hours < 11; ++hours) {
    api.clock.advance(std::chrono::hours(1));
    CHECK(is_signed_in(browser.get("/incidents/1")));
  }
  api.clock.advance(std::chrono::hours(1));
  const auto answer = browser.get("/incidents/1");
  CHECK(answer.status == 200);
  CHECK_FALSE(is_signed_in(answer));
  CHECK(browser.post("/incidents/1/acknowledge", {}).status == 401);
  CHECK(api.state_of_incident() == IncidentState::open);
  CHECK(api.stored().empty());
}

TEST_CASE("who signs out is out, and the cookie is worth nothing afterwards or after a start") {
  Pages api;
  Browser browser(api);
  browser.sign_in(kTriagerToken);
  browser.get("/incidents/1");
  const auto kept = browser.cookie;
  const auto answer = browser.post("/sign-out", {});
  CHECK(answer.status == 303);
  CHECK(answer.headers.at("location") == "./sign-in?signed=out");
  CHECK_THAT(answer.headers.at("set-cookie"), Contains("=; Path=/; Max-Age=0;"));
  CHECK_THAT(browser.get("/sign-in?signed=out").text, Contains("You are signed out."));
  browser.cookie = kept;
  CHECK_FALSE(is_signed_in(browser.get("/")));
  CHECK(browser.post("/incidents/1/acknowledge", {}).status == 401);
  CHECK(api.state_of_incident() == IncidentState::open);
  CHECK(api.stored().empty());
}

TEST_CASE("a sign-in outlives a start of the service, for what is left of it") {
  Pages api;
  Browser browser(api);
  browser.sign_in(kTriagerToken);
  const auto start_again = [&] {
    return signin::SignIns::open({.database = *api.database,
                                  .clock = api.clock,
                                  .random = api.random,
                                  .find_token = api.tokens.find})
        .value();
  };
  http::Request request;
  request.cookie = browser.cookie;
  request.host = api.url("").substr(7);
  api.clock.advance(std::chrono::hours(11));
  const auto again = start_again();
  CHECK(again->find(request)->name == "ada");
  api.clock.advance(std::chrono::hours(1));
  CHECK_FALSE(again->find(request));
  CHECK_FALSE(start_again()->find(request));
}

TEST_CASE("a token that is revoked takes its sign-ins with it, and one that may less does less") {
  Pages api;
  Browser browser(api);
  browser.sign_in(kTriagerToken);
  CHECK(is_signed_in(browser.get("/incidents/1")));
  api.tokens = test::tokens_of({{kTriagerToken, {3, {Scope::read}, "ada"}}});
  CHECK(browser.post("/incidents/1/acknowledge", {}).status == 403);
  api.tokens = test::tokens_of({});
  CHECK_FALSE(is_signed_in(browser.get("/incidents/1")));
  CHECK(browser.post("/incidents/1/acknowledge", {}).status == 401);
  CHECK(api.state_of_incident() == IncidentState::open);
}

TEST_CASE("an id that somebody else chose is never taken over") {
  Pages api;
  Browser browser(api);
  browser.sign_in(kTriagerToken);
  const auto name = browser.cookie.substr(0, browser.cookie.find('='));
  const auto first = browser.cookie;
  browser.sign_in(kTriagerToken);
  CHECK(browser.cookie != first);
  CHECK(api.stored().size() == 1);
  browser.cookie = name + "=" + std::string(64, 'a');
  const auto planted = browser.cookie;
  CHECK_FALSE(is_signed_in(browser.get("/")));
  browser.sign_in(kTriagerToken);
  CHECK(browser.cookie != planted);
  for (const auto& other : {first, planted}) {
    Browser attacker(api);
    attacker.cookie = other;
    CHECK_FALSE(is_signed_in(attacker.get("/")));
  }
}

TEST_CASE("behind TLS the cookie is sent over TLS alone, and only this host can set it") {
  Pages api;
  const std::string host = GENERATE("perf.example", "127.0.0.1");
  Browser browser(api, {{"Host", host}});
  // The host of [web] public_address is behind TLS; of another one the proxy says it.
  if (host == "127.0.0.1") browser.always["X-Forwarded-Proto"] = "https";
  browser.origin = "https://" + host;
  const auto answer = browser.sign_in(kTriagerToken);
  REQUIRE(answer.status == 303);
  CHECK_THAT(answer.headers.at("set-cookie"), Catch::StartsWith("__Host-torchwatch=") &&
                                                  Contains("; Path=/;") &&
                                                  Catch::EndsWith("; Secure"));
  CHECK(is_signed_in(browser.get("/")));
  browser.cookie = "torchwatch=" + id_in(browser.cookie);
  CHECK_FALSE(is_signed_in(browser.get("/")));
  browser.origin = "http://" + host;
  CHECK(browser.sign_in(kTriagerToken).status == 403);
}

TEST_CASE("a form counts only from a page of this service") {
  Pages api;
  Browser browser(api);
  browser.sign_in(kTriagerToken);
  browser.get("/incidents/1");
  const auto own = browser.origin;
  const auto host = own.substr(7);
  for (const std::string& origin :
       {std::string(), std::string("null"), std::string("https://evil.example"), "https://" + host,
        std::string("http://127.0.0.1"), std::string("http://127.0.0.1:1"), own + "/",
        own + ".evil.example", own + " " + own}) {
    INFO(origin);
    browser.origin = origin;
    const auto answer = browser.post("/incidents/1/accept", {{"reason", "<b>their text</b>"}});
    CHECK(answer.status == 403);
    CHECK_THAT(answer.text,
               Contains("not sent by a page of this service") && !Contains("their text"));
    CHECK(browser.post("/sign-out", {}).status == 403);
    CHECK(browser.post("/sign-in", {{"token", kAnyToken}}).status == 403);
  }
  browser.origin = own;
  CHECK(is_signed_in(browser.get("/")));
  CHECK(api.state_of_incident() == IncidentState::open);
}

TEST_CASE("a form needs the key of the sign-in that sends it") {
  Pages api;
  Browser browser(api);
  browser.sign_in(kTriagerToken);
  browser.get("/incidents/1");
  Browser other(api);
  other.sign_in(kAnyToken);
  other.get("/incidents/1");
  CHECK(browser.key != other.key);
  const auto own = browser.key;
  for (const std::string& key : {std::string(), other.key, id_in(browser.cookie), own + "0"}) {
    browser.key = key;
    const auto answer = browser.post("/incidents/1/close", {{"reason", "fixed by 1a2b"}});
    CHECK(answer.status == 403);
    CHECK_THAT(answer.text, Contains("fixed by 1a2b") && Contains("value=\"" + own + "\""));
  }
  browser.key = "";
  CHECK(browser.post("/incidents/1/close", {{"key", own + "&key=" + own}}).status == 403);
  CHECK(api.state_of_incident() == IncidentState::open);
  browser.key = own;
  CHECK(browser.post("/incidents/1/close", {}).status == 303);
}

TEST_CASE("two cookies, or one without an id, sign nobody in") {
  Pages api;
  Browser browser(api);
  browser.sign_in(kTriagerToken);
  const auto right = browser.cookie;
  const auto name = right.substr(0, right.find('='));
  CHECK(is_signed_in(browser.get("/")));
  for (const std::string& cookie :
       {right + "; " + right, name + "=; " + right, name + "=" + std::string(64, 'A'),
        right.substr(0, right.size() - 1), right + "0", right + "=", "x" + right, name, "=" + right,
        std::string(4'000, 'a') + "=b; " + name + "=1; " + right}) {
    INFO(cookie.substr(0, 100));
    browser.cookie = cookie;
    CHECK_FALSE(is_signed_in(browser.get("/")));
  }
  browser.cookie = "a=b;  " + right + " ;c=d";
  CHECK(is_signed_in(browser.get("/")));
  const std::string head = "GET / HTTP/1.1\r\nHost: " + api.url("").substr(7) + "\r\n";
  RawClient twice(api.server->port());
  twice.send(head + "Cookie: " + right + "\r\nCookie: " + right + "\r\n\r\n");
  CHECK_THAT(twice.answer(), Contains("200 OK") && !Contains("Signed in with "));
  RawClient oversized(api.server->port());
  oversized.send(head + "Cookie: " + std::string(17'000, 'a') + "=b; " + right + "\r\n\r\n");
  CHECK_THAT(oversized.answer(), Contains(" 431 "));
}

TEST_CASE("a sign-in is worth nothing for the API") {
  Pages api;
  Browser browser(api);
  browser.sign_in(kAnyToken);
  auto headers = browser.always;
  headers["Cookie"] = browser.cookie;
  headers["Origin"] = browser.origin;
  CHECK(api.send("GET", "/api/v1/audit", "", headers).status == 401);
  headers["Content-Type"] = "application/json";
  CHECK(api.send("POST", "/api/v1/incidents/1/acknowledge", "{}", headers).status == 401);
  headers["Content-Type"] = "application/x-www-form-urlencoded";
  CHECK(api.send("POST", "/api/v1/incidents/1/acknowledge", "", headers).status == 401);
  CHECK(api.state_of_incident() == IncidentState::open);
  headers.erase("Content-Type");
  CHECK_THAT(api.send("GET", "/api/v1/requests", "", headers).text, !Contains("Signed in"));
}

TEST_CASE("who is signed in from elsewhere may have all that pages lead to, and their events") {
  Pages api;
  const auto trace = "/traces/" + std::to_string(api.add_trace()) + "/trace.json.gz";
  Browser browser(api);
  browser.sign_in(kReaderToken);
  http::ServerSettings settings;  // strangers may not read
  settings.tokens = api.tokens;
  settings.tokens.find_signed_in = [&](const auto& of) { return api.sign_ins->find(of); };
  settings.trusted_proxies = {"127.0.0.1"};
  const auto server = http::Server::start(settings, api.routes, api.clock).value();
  // The cookie's name has the port of the address that the browser shows.
  const auto host = "127.0.0.1:" + std::to_string(api.server->port());
  const auto head_of = [&](const std::string& path, const std::string& cookie) {
    RawClient client(server->port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: " + host +
                "\r\nX-Forwarded-For: 198.51.100.1\r\n" + cookie + "\r\n");
    return client.until("\r\n\r\n");
  };
  for (const auto& path : {std::string("/"), std::string("/incidents/1/evidence.svg"), trace,
                           std::string("/incidents.atom"), std::string("/events")}) {
    INFO(path);
    CHECK_THAT(head_of(path, ""), Contains(" 401 "));
    CHECK_THAT(head_of(path, "Cookie: " + browser.cookie + "\r\n"), Contains(" 200 "));
  }
  CHECK_THAT(head_of("/api/v1/events", "Cookie: " + browser.cookie + "\r\n"), Contains(" 401 "));
}

TEST_CASE("after signing in nobody is led to another place") {
  Pages api;
  for (const std::string to :
       {"//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nSet-Cookie: b=c",
        "javascript:alert(1)", "", "incidents/1", "/javascript:alert(1)", "/..//evil.example"}) {
    INFO(to);
    Browser browser(api);
    const auto answer = browser.sign_in(kTriagerToken, to);
    CHECK(answer.status == 303);
    CHECK_THAT(answer.headers.at("location"), Catch::StartsWith("./"));
    CHECK_THAT(answer.headers.at("location"), !Contains("Set-Cookie"));
    browser.get("/");
    CHECK(
        browser.get("/sign-in?to=" + std::string("%22%3E%3Cimg%20src%3Dx%3E")).text.find("<img") ==
        std::string::npos);
  }
}

TEST_CASE("who may not read is shown where to sign in, and nothing else") {
  const auto page = pages::problem_page(http::problem(401, "a token is needed"), "/incidents/7");
  REQUIRE(page);
  CHECK(page->status == 401);
  CHECK_THAT(page->body, Contains("href=\"../sign-in?to=%2Fincidents%2F7\"") &&
                             Contains("href=\"../style.css\"") && !Contains("newest verdicts"));
  const auto filtered = pages::problem_page(http::problem(401, "a token is needed"),
                                            "/series?workload=bert&metric=cpu_peak");
  REQUIRE(filtered);
  CHECK_THAT(filtered->body, Contains("\"sign-in?to=%2Fseries%3Fworkload%3Dbert%26metric%3D"));
  for (const auto* path : {"/api/v1/incidents", "/healthz", "/metrics", "/incidents/7.md"}) {
    CHECK_FALSE(pages::problem_page(http::problem(401, "a token is needed"), path));
  }
}
