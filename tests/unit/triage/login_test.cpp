#include "login.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch::triage;

TEST_CASE("a login is taken from an address of GitHub's own, and never guessed") {
  CHECK(login_of("49699333+ada-l@users.noreply.github.com") == "ada-l");
  CHECK(login_of("ada@users.noreply.github.com") == "ada");
  CHECK(login_of("ada@example.org").empty());
  CHECK(login_of("@all`@users.noreply.github.com").empty());
  CHECK(login_of("").empty());
}

TEST_CASE("an issue does not say which user of the machine, or which token, cancelled or decided") {
  CHECK(without_asker("cancelled by uid 1000") == "cancelled by somebody on the machine");
  CHECK(without_asker("cancelled by token ci") == "cancelled by somebody with a token");
  CHECK(without_asker("uid 0") == "somebody on the machine");
  for (const auto* text : {"", "Ada", "uid", "uid ten", "cancelled by Ada", "token ci",
                           "the build's uid 1000 is not known"}) {
    CHECK(without_asker(text) == text);
  }
}
