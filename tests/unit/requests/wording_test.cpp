#include "torchwatch/requests/wording.hpp"

#include <catch2/catch.hpp>

#include "torchwatch/documents/request.hpp"

using namespace torchwatch;
using namespace torchwatch::requests;
using storage::RequestKind;

namespace {

storage::RequestRow request(RequestKind kind, const std::string& body,
                            const std::string& result = "") {
  storage::RequestRow row;
  row.kind = kind;
  row.body_json = body;
  row.result_json = result;
  return row;
}

}  // namespace

TEST_CASE("a request says in words what was asked for") {
  const auto asked = [](RequestKind kind, const std::string& body) {
    const auto row = request(kind, body);
    return kind_text(row) + ": " + asked_text(row);
  };
  CHECK(asked(RequestKind::nightly, "{}") == "nightly: every nightly that is due");
  CHECK(asked(RequestKind::nightly,
              R"({"candidate": "b", "baseline": "a", "workloads": ["dlrm"], "now": true})") ==
        "comparison: b against a, dlrm, now");
  CHECK(asked(RequestKind::nightly, R"({"candidate": "b", "passes": ["coverage"]})") ==
        "measurement: b alone");
  CHECK(asked(RequestKind::nightly, R"({"pull": 17})") == "comparison: pull request 17");
  CHECK(asked(RequestKind::bisection, R"({"suspect": "5d1c1c3f0a9e5d1c1c3f"})") ==
        "bisection: 5d1c1c3f0a9e against its parent");
  CHECK(asked(RequestKind::fetch, R"({"name": "2.13.0"})") == "fetch: 2.13.0");
  CHECK(asked(RequestKind::nightly, "damaged") == "nightly: ");
}

TEST_CASE("a request says what it led to, or why it led to nothing") {
  const auto led_to = [](const std::string& result) {
    return result_text(request(RequestKind::nightly, "{}", result));
  };
  CHECK(led_to(R"({"error": "no such commit", "comparison": 4})") == "no such commit");
  CHECK(led_to(R"({"base": "5d1c1c3f", "comparison": 4, "head": "6e2d2d4a"})") == "comparison 4");
  CHECK(led_to(R"({"build": 7})") == "build 7");
  CHECK(led_to("").empty());
  CHECK(led_to("damaged").empty());
}
