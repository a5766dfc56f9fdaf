#include "torchwatch/platform/folder.hpp"

#include <catch2/catch.hpp>

using torchwatch::platform::lies_in;

TEST_CASE("a folder and what lies in it at any depth lie in it, however they are written") {
  CHECK(lies_in("/srv/builds", "/srv/builds"));
  CHECK(lies_in("/srv/builds/", "/srv/builds"));
  CHECK(lies_in("/srv/builds", "/srv/builds/"));
  CHECK(lies_in("/srv/builds/a/b", "/srv/builds"));
  CHECK(lies_in("/srv/builds/a", "/srv/builds/"));
  CHECK(lies_in("/srv/./other/../builds/a", "/srv//builds"));
  CHECK(lies_in("/srv", "/"));
  CHECK(lies_in("builds/a", "builds"));
}

TEST_CASE("a neighbour, a parent and what only begins alike lie not in a folder") {
  CHECK_FALSE(lies_in("/srv", "/srv/builds"));
  CHECK_FALSE(lies_in("/srv/builds-of-others", "/srv/builds"));
  CHECK_FALSE(lies_in("/srv/builds/../secrets", "/srv/builds"));
  CHECK_FALSE(lies_in("/etc", "/srv/builds"));
  CHECK_FALSE(lies_in("srv/builds", "/srv/builds"));
  CHECK_FALSE(lies_in("/srv/builds", "srv"));
}

TEST_CASE("nothing lies in a folder without a name, and no path without a name lies in one") {
  CHECK_FALSE(lies_in("/srv", ""));
  CHECK_FALSE(lies_in("", "/srv"));
}
