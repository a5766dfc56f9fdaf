#include "torchwatch/machines/side_by_side.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace torchwatch;
using machines::side_by_side;
using storage::ClassValues;

namespace {

ClassValues measured(const std::string& workload, storage::Id of_class,
                     std::vector<std::int64_t> values) {
  return {.benchmark = {workload, {}, {}}, .machine_class = of_class, .values = std::move(values)};
}

}  // namespace

TEST_CASE("two machines are compared by what ran on both, with the geometric mean of the ratios") {
  const auto sides =
      side_by_side({measured("a", 1, {100, 101, 99}), measured("a", 2, {50, 51, 49}),
                    measured("b", 1, {10, 10, 10}), measured("b", 2, {20, 20, 20}),
                    measured("c", 1, {7}), measured("d", 2, {7}), measured("b", 3, {1, 1, 1})},
                   1, 2);
  REQUIRE(sides.benchmarks.size() == 2);
  CHECK(sides.benchmarks[0].benchmark.workload == "a");
  CHECK(sides.benchmarks[0].ratio.ratio == Approx(0.5));
  CHECK(sides.benchmarks[0].ratio.low < 0.5);
  CHECK(sides.benchmarks[0].ratio.high > 0.5);
  CHECK(sides.benchmarks[1].ratio.low == Approx(2));
  CHECK(sides.benchmarks[1].ratio.high == Approx(2));
  CHECK(sides.mean.ratio == Approx(1));
  CHECK(sides.mean.low < 1);
  CHECK(sides.mean.high > 1);
  REQUIRE(sides.only_a.size() == 1);
  CHECK(sides.only_a[0].workload == "c");
  REQUIRE(sides.only_b.size() == 1);
  CHECK(sides.only_b[0].workload == "d");
}

TEST_CASE("too few runs give a ratio without an interval, and so a mean without one") {
  const auto sides = side_by_side({measured("a", 1, {100, 100}), measured("a", 2, {50, 50, 50}),
                                   measured("b", 1, {10, 10, 10}), measured("b", 2, {20, 20, 20})},
                                  1, 2);
  CHECK(sides.benchmarks[0].ratio.ratio == Approx(0.5));
  CHECK(std::isinf(sides.benchmarks[0].ratio.high));
  CHECK(std::isfinite(sides.benchmarks[1].ratio.high));
  CHECK(std::isinf(sides.mean.high));
}

TEST_CASE("equal values give equal intervals, and noisier runs wider ones") {
  const std::vector<std::int64_t> calm{100, 101, 99, 100, 102, 98};
  const std::vector<std::int64_t> noisy{100, 130, 70, 100, 150, 60};
  const auto of = [](const std::vector<std::int64_t>& values) {
    return side_by_side({measured("a", 1, values), measured("a", 2, values)}, 1, 2).benchmarks[0];
  };
  CHECK(of(noisy).ratio.low == of(noisy).ratio.low);
  CHECK(of(noisy).ratio.high / of(noisy).ratio.low > 2 * of(calm).ratio.high / of(calm).ratio.low);
}

TEST_CASE("machines with nothing in common are compared by nothing") {
  CHECK(side_by_side({measured("a", 1, {1, 2, 3})}, 1, 2).benchmarks.empty());
  CHECK(side_by_side({}, 1, 2).benchmarks.empty());
}
