#include <catch2/catch.hpp>
#include <set>

#include "torchwatch/platform/failpoint.hpp"

using namespace torchwatch;

TEST_CASE("every failpoint has one name, written component.place") {
  std::set<std::string_view> names;
  for (const auto name : platform::failpoint_names()) {
    CHECK(names.insert(name).second);
    CHECK(name.find('.') != std::string_view::npos);
    CHECK(name.find_first_of(":, ") == std::string_view::npos);
  }
}

TEST_CASE("a failpoint that nobody asked for does nothing") {
  for (const auto name : platform::failpoint_names()) CHECK(platform::failpoint(name));
}
