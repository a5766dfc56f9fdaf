#include "request_guard.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::http;

namespace {

httplib::Request with(std::initializer_list<std::pair<std::string, std::string>> headers) {
  httplib::Request request;
  request.method = "GET";
  request.version = "HTTP/1.1";
  request.path = "/";
  for (const auto& [name, value] : headers) request.headers.emplace(name, value);
  return request;
}

int status(const httplib::Request& request) {
  const auto refusal =
      refusal_of(request, {{"localhost", "127.0.0.1", "[::1]", "ci.example"}, 100});
  return refusal ? refusal->status : 200;
}

}  // namespace

TEST_CASE("a host is known by its name, whatever the port and the case") {
  for (const auto* host :
       {"localhost", "LocalHost:8420", "127.0.0.1:1", "[::1]:8420", "[::1]", "ci.example"}) {
    INFO(host);
    CHECK(status(with({{"Host", host}})) == 200);
  }
  CHECK(status(with({{"Host", "evil.example"}})) == 421);
  CHECK(status(with({{"Host", "localhost.evil.example"}})) == 421);
  CHECK(status(with({{"Host", "localhost:80@evil.example"}})) == 400);
  CHECK(status(with({})) == 400);
  CHECK(status(with({{"Host", "localhost"}, {"host", "evil.example"}})) == 400);
}

TEST_CASE("without a list of hosts any one host is served, as on the Unix socket") {
  CHECK_FALSE(refusal_of(with({{"Host", "evil.example"}}), {{}, 100}));
  CHECK(refusal_of(with({}), {{}, 100}));
}

TEST_CASE("a body's length is stated once, in a way that everybody understands") {
  const std::pair<std::string, std::string> host{"Host", "localhost"};
  CHECK(status(with({host, {"Content-Length", "100"}})) == 200);
  CHECK(status(with({host, {"Transfer-Encoding", "Chunked"}})) == 200);
  CHECK(status(with({host, {"Content-Length", "101"}})) == 413);
  CHECK(status(with({host, {"Content-Length", "5"}, {"content-length", "5"}})) == 400);
  CHECK(status(with({host, {"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}})) == 400);
  CHECK(status(with({host, {"Transfer-Encoding", "gzip, chunked"}})) == 400);
  CHECK(status(with({host, {"Content-Length", "+5"}})) == 400);
  CHECK(status(with({host, {"Content-Length", "5, 5"}})) == 400);
  CHECK(status(with({host, {"Content-Length", "99999999999999999999999"}})) == 400);
  CHECK(status(with({host, {"Content-Length ", "5"}})) == 400);
  auto old = with({host, {"Transfer-Encoding", "chunked"}});
  old.version = "HTTP/1.0";
  CHECK(status(old) == 400);
}

TEST_CASE("headers that the library would act upon, or that hold a line break, are dropped") {
  auto request = with({{"Content-Encoding", "gzip"},
                       {"Accept-Encoding", "gzip"},
                       {"Range", "bytes=0-1"},
                       {"X-Split", "a\r\nSet-Cookie: b"},
                       {"Authorization", std::string("Bearer a\0b", 10)},
                       {"Accept", "application/json"}});
  request.ranges.emplace_back(0, 1);
  disarm(request);
  CHECK(request.headers.size() == 1);
  CHECK(request.has_header("Accept"));
  CHECK(request.ranges.empty());
}

TEST_CASE("a header given twice counts as none") {
  const auto request = request_of(with({{"Authorization", "Bearer a"},
                                        {"authorization", "Bearer b"},
                                        {"Content-Type", "Application/JSON; charset=utf-8"}}),
                                  Origin{});
  CHECK(request.authorization.empty());
  CHECK(request.content_type == "application/json");
}

TEST_CASE("a key that is given twice is not a missing key") {
  const auto key = [](const httplib::Request& request) {
    return request_of(request, {}).idempotency_key;
  };
  CHECK_FALSE(key(with({})));
  CHECK(key(with({{"Idempotency-Key", "one"}})) == "one");
  CHECK(key(with({{"Idempotency-Key", "one"}, {"Idempotency-Key", "two"}})) == "");
}

TEST_CASE("only a method that the library does not know is asked for without its head") {
  httplib::Request request;
  request.method = "QUERY";
  request.target = "/api?x=1";
  request.version = "HTTP/1.1";
  CHECK(asked_with_unknown_method(request)->path == "/api");
  auto known = request;
  known.method = "GET";
  CHECK_FALSE(asked_with_unknown_method(known));
  auto garbage = request;
  garbage.method = "{}";
  CHECK_FALSE(asked_with_unknown_method(garbage));
  auto other = request;
  other.version = "SIP/2.0";
  CHECK_FALSE(asked_with_unknown_method(other));
}

TEST_CASE("the fields of a form are read by the server, not into the query by the library") {
  auto request = with({{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}});
  disarm(request);
  CHECK_FALSE(request.get_header_value("Content-Type").starts_with("application/"));
  request.body = "reason=a+b%26c%3D%C3%A4&key=1&key=2&empty=";
  const auto seen = request_of(request, Origin{});
  CHECK(seen.content_type == kForm);
  CHECK(seen.query.empty());
  CHECK(seen.form.find("reason")->second == "a b&c=\xC3\xA4");
  CHECK(seen.form.count("key") == 2);
  CHECK(seen.form.find("empty")->second.empty());
}

TEST_CASE("a body of another type has no fields") {
  auto request = with({{"Content-Type", "application/json"}});
  request.body = "reason=a";
  CHECK(request_of(request, Origin{}).form.empty());
}

TEST_CASE("two headers with cookies count as none") {
  CHECK(request_of(with({{"Cookie", "a=b"}}), Origin{}).cookie == "a=b");
  CHECK(request_of(with({{"Cookie", "a=b"}, {"cookie", "a=c"}}), Origin{}).cookie.empty());
}
