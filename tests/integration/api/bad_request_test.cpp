// What is wrong with a request is a page for a browser, and JSON for a program.
#include <catch2/catch.hpp>

#include "browser.hpp"
#include "page_checks.hpp"
#include "raw_client.hpp"
#include "torchwatch/site/view.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

/// The answer to a GET with that Host, for a browser or for a program.
std::string answer_to(Api& api, const std::string& target, const std::string& host,
                      bool is_browser) {
  RawClient client(api.server->port());
  client.send("GET " + target + " HTTP/1.1\r\nHost: " + host +
              (is_browser ? "\r\nAccept: text/html,application/xml;q=0.9,*/*;q=0.8" : "") +
              "\r\nConnection: close\r\n\r\n");
  return client.rest();
}

/// The page in an answer, checked; empty where there is none.
std::string page_in(const std::string& answer) {
  if (answer.find("Content-Type: text/html") == std::string::npos) return "";
  const auto page = answer.substr(answer.find("\r\n\r\n") + 4);
  CHECK(harm_in_html(page) == "");
  CHECK(count(page, "<h1>") == 1);
  return page;
}

}  // namespace

TEST_CASE("an address that is too long is said to be, to browsers on a page") {
  Api api;
  api.fill();
  const std::string query = "/incidents?state=" + std::string(10'000, 'a');
  const std::string path = "/" + std::string(600, '<');
  for (const auto& target : {query, path, "/search?q=%3Cimg%3E" + std::string(10'000, 'b')}) {
    INFO(target.substr(0, 50));
    const auto seen = answer_to(api, target, "localhost", true);
    CHECK(status_of_answer(seen) == 414);
    CHECK_THAT(page_in(seen), Contains("too long") && Contains("URI Too Long"));
    const auto said = answer_to(api, target, "localhost", false);
    CHECK(status_of_answer(said) == 414);
    CHECK_THAT(said, Contains("application/problem+json") && Contains("too long"));
  }
  const auto api_answer =
      answer_to(api, "/api/v1/incidents?state=" + std::string(10'000, 'a'), "localhost", true);
  CHECK(status_of_answer(api_answer) == 414);
  CHECK_THAT(api_answer, Contains("application/problem+json"));
  CHECK(status_of_answer(answer_to(api, "/incidents?state=" + std::string(7'000, 'a'), "localhost",
                                   true)) == 400);
}

TEST_CASE("a host that is not served gets a page that quotes nothing of it") {
  Api api;
  for (const std::string host : {"evil.example", "<script>alert(1)</script>", "localhost.evil",
                                 "perf.example.evil.example:80"}) {
    INFO(host);
    const auto seen = answer_to(api, "/incidents", host, true);
    CHECK(status_of_answer(seen) == 421);
    CHECK_THAT(page_in(seen), Contains("this host name is not served") && !Contains("evil"));
    CHECK_THAT(answer_to(api, "/incidents", host, false), Contains("application/problem+json"));
  }
  CHECK(status_of_answer(answer_to(api, "/incidents", "evil.example:x", true)) == 400);
}

TEST_CASE("what is not there, or not allowed, is a page for a browser") {
  Api api;
  Browser browser(api);
  const std::vector<std::pair<std::string, int>> wrong{
      {"/nothing", 404},        {"/a/b/c/d/e", 404},         {"/incidents/99", 404},
      {"/sign-out", 405},       {"/incidents/1/close", 405}, {"/sign-in?a=b", 400},
      {"/outbox?limit=0", 400}, {"/requests/0", 404},        {"/requests/99", 404},
      {"/%3Cscript%3E", 404}};
  for (const auto& [path, status] : wrong) {
    INFO(path);
    const auto answer = browser.get(path);
    CHECK(answer.status == status);
    CHECK(answer.headers.at("content-type") == "text/html; charset=utf-8");
    CHECK(count(answer.text, "<h1>") == 1);
    CHECK(harm_in_html(answer.text) == "");
  }
  CHECK(browser.get("/api/v1/nothing").headers.at("content-type") == "application/problem+json");
  CHECK(browser.get("/incidents/99.md").headers.at("content-type") == "application/problem+json");
  CHECK(api.get("/nothing").headers.at("content-type") == "application/problem+json");
}

TEST_CASE("who asks too often gets a page of it in a browser, and JSON in a program") {
  test::FakeClock clock;
  http::ServerSettings settings;
  settings.page_of = pages::problem_page;
  settings.requests_per_second = 0.1;  // one at once
  const auto server = http::Server::start(settings, {}, clock).value();
  const auto answer = [&](const std::string& path, const std::string& more) {
    RawClient client(server->port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more +
                "Connection: close\r\n\r\n");
    return client.answer();
  };
  const std::string html = "Accept: text/html,*/*;q=0.8\r\n";
  CHECK(status_of_answer(answer("/", html)) == 404);
  for (const std::string path : {"/", "/incidents/7", "/series/a/b/c/d?from=2026-08-17"}) {
    INFO(path);
    const auto seen = answer(path, html);
    CHECK(status_of_answer(seen) == 429);
    CHECK_THAT(page_in(seen), Contains("Too Many Requests") && Contains("try again later"));
    CHECK_THAT(seen, Contains("Retry-After: ") && Contains("Content-Security-Policy: "));
    CHECK_THAT(answer(path, ""), Contains("application/problem+json"));
  }
  CHECK_THAT(answer("/api/v1/incidents", html), Contains("application/problem+json"));
  CHECK_THAT(answer("/incidents.csv", html), Contains("application/problem+json"));
}

TEST_CASE("a head that is late, too long or malformed is a page for a browser") {
  test::FakeClock clock;
  http::ServerSettings settings;
  settings.page_of = pages::problem_page;
  settings.head_time_limit = std::chrono::milliseconds(50);
  const auto server = http::Server::start(settings, {}, clock).value();
  const std::vector<std::pair<std::string, int>> ends{
      {"", 408},
      {"Cookie: " + std::string(20'000, 'a') + "\r\n\r\n", 431},
      {"no colon\r\n\r\n", 400}};
  for (const auto& [end, status] : ends) {
    for (const bool is_browser : {true, false}) {
      INFO(status << (is_browser ? " for a browser" : " for a program"));
      RawClient client(server->port());
      client.send("GET /incidents/7 HTTP/1.1\r\nHost: localhost\r\n" +
                  std::string(is_browser ? "Accept: text/html\r\n" : "") + end);
      const auto answer = client.answer();
      CHECK(status_of_answer(answer) == status);
      CHECK((page_in(answer) != "") == is_browser);
      CHECK((answer.find("application/problem+json") != std::string::npos) == !is_browser);
    }
  }
}

TEST_CASE("a form of another type is refused on a page") {
  Api api;
  api.fill();
  Browser browser(api);
  browser.sign_in(kAnyToken);
  browser.get("/incidents/1");
  auto headers = browser.always;
  headers["Cookie"] = browser.cookie;
  headers["Origin"] = browser.origin;
  headers["Content-Type"] = "application/json";
  const auto answer = api.send("POST", "/incidents/1/close", "{}", headers);
  CHECK(answer.status == 415);
  CHECK_THAT(answer.text, Contains("<h1>"));
  headers["Content-Type"] = "multipart/form-data; boundary=a";
  CHECK(api.send("POST", "/incidents/1/close", "--a--", headers).status == 415);
}

TEST_CASE("who asks while nothing is served learns why, on a page or as JSON") {
  test::FakeClock clock;
  http::ServerSettings settings;
  settings.page_of = pages::problem_page;
  settings.closed = "the database is being opened";
  const auto server = http::Server::start(settings, {}, clock).value();
  for (const std::string path :
       {"/", "/incidents/7", "/healthz", "/api/v1/incidents", "/nothing"}) {
    INFO(path);
    RawClient client(server->port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n" +
                "Connection: close\r\n\r\n");
    const auto answer = client.rest();
    CHECK(status_of_answer(answer) == 503);
    CHECK_THAT(answer, Contains("the database is being opened") && Contains("Retry-After: 10"));
    const bool is_for_people = path != "/healthz" && !path.starts_with("/api/");
    CHECK((page_in(answer) != "") == is_for_people);
  }
  RawClient client(server->port());
  client.send("POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  CHECK(status_of_answer(client.answer()) == 503);
}
