// The picture of an incident, as GitHub fetches it.
#include <catch2/catch.hpp>
#include <regex>

#include "api_fixture.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

const Api::Headers kStranger{{"X-Forwarded-For", "198.51.100.1"}};
const std::string kPicture = "/incidents/1/evidence.svg";

}  // namespace

TEST_CASE("the picture of an incident is an SVG that needs nothing else") {
  Api api;
  api.fill();
  const auto answer = api.get(kPicture);
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("content-type") == "image/svg+xml");
  CHECK(answer.headers.at("cache-control") == "no-cache");
  CHECK(answer.headers.at("x-content-type-options") == "nosniff");
  CHECK(answer.headers.at("content-security-policy") ==
        "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  CHECK_THAT(answer.text, Catch::StartsWith("<svg ") && Contains("prefers-color-scheme: dark") &&
                              !Contains("<script") && !Contains("<a "));
}

TEST_CASE("a stranger sees the same picture as everybody") {
  Api api;
  api.fill();
  CHECK(api.send("GET", kPicture, "", kStranger).text == api.get(kPicture).text);
}

TEST_CASE("a picture may be kept only under the hash of its content") {
  Api api;
  api.fill();
  CHECK(api.get(kPicture + "?v=0123456789abcdef").headers.at("cache-control") == "no-cache");
  CHECK(api.get(kPicture + "?w=1").status == 400);
  constexpr std::size_t kVersion = 16;
  const auto present =
      kPicture + "?v=" + digest::sha256_hex(api.get(kPicture).text).substr(0, kVersion);
  // What only a token opens is not for shared caches.
  CHECK(api.get(present).headers.at("cache-control") == "private, max-age=31536000, immutable");
  CHECK(api.send("GET", present, "", kStranger).headers.at("cache-control") ==
        "public, max-age=31536000, immutable");
}

TEST_CASE("there is no picture of an incident that there is not, or of nothing") {
  Api api;
  api.fill();
  CHECK(api.get("/incidents/99/evidence.svg").status == 404);
  CHECK(api.get("/incidents/x/evidence.svg").status == 404);
  auto row = storage::IncidentStore(*api.database).get(1).value();
  row.key = "other";
  row.series.clear();
  row.bisection.reset();
  const auto empty = storage::IncidentStore(*api.database).open(row).value();
  CHECK(api.get("/incidents/" + std::to_string(empty.id) + "/evidence.svg").status == 404);
}
