#include "torchwatch/http/problem.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace torchwatch;
using namespace torchwatch::http;

TEST_CASE("every error code has one status that has a title") {
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    const int status = status_of(static_cast<ErrorCode>(i));
    CHECK(status >= 400);
    CHECK(title_of(status) != "Error");
  }
  CHECK(status_of(ErrorCode::not_found) == 404);
  CHECK(status_of(ErrorCode::conflict) == 409);
  CHECK(status_of(ErrorCode::unavailable) == 503);
}

TEST_CASE("a client reads its own mistake, but nothing internal") {
  const auto own = problem(Error{ErrorCode::invalid, "limit must be 1 to 200"});
  CHECK(own.body.find("limit must be") != std::string::npos);
  for (const auto code : {ErrorCode::unavailable, ErrorCode::corrupt, ErrorCode::internal,
                          ErrorCode::timed_out, ErrorCode::cancelled}) {
    const auto reply = problem(Error{code, "/var/lib/torchwatch/state.sqlite: disk I/O error"});
    CHECK(reply.body.find("/var/lib") == std::string::npos);
    CHECK(reply.content_type == "application/problem+json");
  }
}

TEST_CASE("what to do about a problem is a member of its own, null where nothing is known") {
  const auto members = [](const Reply& reply) { return nlohmann::json::parse(reply.body); };
  const auto refused =
      members(problem(422, {ErrorCode::invalid, "good and bad are reversed", "swap the two"}));
  CHECK(refused.at("status") == 422);
  CHECK(refused.at("detail") == "good and bad are reversed");
  CHECK(refused.at("remedy") == "swap the two");
  CHECK(members(problem(404, "not found")).at("remedy").is_null());
  const auto internal =
      members(problem(Error{ErrorCode::unavailable, "no /var/lib", "make /var/lib"}));
  CHECK(internal.at("remedy") == "try again later");
}

TEST_CASE("a problem is JSON whatever it quotes") {
  const auto reply = problem(400, "\xff\xfe \"quoted\"", {}, "\xff");
  CHECK(nlohmann::json::accept(reply.body));
}
