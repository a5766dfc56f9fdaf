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
