#include "torchwatch/http/router.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::http;

namespace {
const std::vector<Route> kRoutes{{"GET", "/api/v1/nightlies", {}, {}},
                                 {"POST", "/api/v1/nightlies", {}, {}},
                                 {"GET", "/api/v1/nightlies/{id}", {}, {}},
                                 {"GET", "/api/v1/builds", {}, {}}};

Request request(const std::string& method, const std::string& path) {
  Request made;
  made.method = method;
  made.path = path;
  return made;
}
}  // namespace

TEST_CASE("a path finds its route and its parameters") {
  const auto found = match(kRoutes, request("GET", "/api/v1/nightlies/7"));
  REQUIRE(found);
  CHECK(found->route->path == "/api/v1/nightlies/{id}");
  CHECK(found->parameters.at("id") == "7");
}

TEST_CASE("a path is matched whole and literally") {
  for (const auto* path : {"//", "", "/api/v1/nightlies/", "/api/v1/nightlies/7/x",
                           "//api/v1/builds", "/API/v1/builds", "/api/v1/builds/../builds"}) {
    INFO(path);
    CHECK(match(kRoutes, request("GET", path)).error().status == 404);
  }
}

TEST_CASE("another method is answered with what is allowed") {
  const auto refused = match(kRoutes, request("DELETE", "/api/v1/nightlies")).error();
  CHECK(refused.status == 405);
  CHECK(refused.headers.at("Allow") == "GET, HEAD, POST");
}
