#include "torchwatch/records/asker.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;

TEST_CASE("who asks is written by what cannot be chosen: a user's number, or a token's name") {
  CHECK(to_string(Asker{.user = 1000}) == "uid 1000");
  CHECK(to_string(Asker{.token = "ci"}) == "token ci");
  CHECK(to_string(Asker{.token = name_of_workflow("owner/name", "refs/heads/main")}) ==
        "actions owner/name@refs/heads/main");
  CHECK(to_string(github_user("ada")) == "github ada");
  CHECK(to_string(github_user("")) == "github ?");
  CHECK(to_string(Asker{}).empty());
}

TEST_CASE("a public place does not say which user, token or workflow asked") {
  CHECK(public_text(to_string(Asker{.user = 0})) == "somebody on the machine");
  CHECK(public_text(to_string(Asker{.token = "ci"})) == "somebody with a token");
  CHECK(public_text(name_of_workflow("owner/name", "refs/heads/main")) == "a workflow");
}

TEST_CASE("what a person has as a name in a public place stays") {
  for (const auto* text : {"", "Ada", "uid", "uid ", "uid ten", "token", "token of the team",
                           "actions", "github ada"}) {
    CHECK(public_text(text) == text);
  }
}
