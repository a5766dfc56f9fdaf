#include <rapidcheck.h>

#include <catch2/catch.hpp>

#include "order_fixture.hpp"

using namespace torchwatch;
using orders::ProcessOrder;
using test::recipe;

TEST_CASE("an order of a process is read as it was written, and cut ones are refused") {
  const ProcessOrder order{.id = "x-1", .spec = recipe(), .uses_all_cores = true};
  const auto text = to_json(order);
  const auto read = orders::parse_process_order(text).value();
  CHECK(to_json(read) == text);
  CHECK(read.spec.arguments == order.spec.arguments);
  CHECK(read.spec.time_limit == order.spec.time_limit);
  REQUIRE(rc::check([&] {
    const auto size = *rc::gen::inRange<std::size_t>(0, text.size() - 2);
    RC_ASSERT(!orders::parse_process_order(text.substr(0, size)));
  }));
}
