#include "torchwatch/records/scope.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;

TEST_CASE("scopes are read as they are written, each once and in any order") {
  CHECK(to_string(all_scopes()) == "read,triage,measure,admin");
  CHECK(parse_scopes("read,triage,measure,admin").value() == all_scopes());
  CHECK(to_string(parse_scopes("measure,read,measure").value()) == "read,measure");
}

TEST_CASE("a word that is not a scope is refused with those that are") {
  for (const auto* text : {"", "write", "read,", "read, triage"}) {
    INFO(text);
    REQUIRE_FALSE(parse_scopes(text));
    CHECK_THAT(parse_scopes(text).error().message, Catch::Contains("read, triage, measure, admin"));
  }
}
