#include "torchwatch/platform/user.hpp"

#include <catch2/catch.hpp>

using torchwatch::platform::user_name;

TEST_CASE("a user is called by its name, and by its number where it has none") {
  CHECK(user_name(0) == "root");
  CHECK(user_name(3'999'999'999) == "uid 3999999999");
}
