#include "torchwatch/evidence/side_by_side.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace torchwatch;
using evidence::side_by_side;
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

namespace {

evidence::BuildOnTwo build_on_two() {
  evidence::BuildOnTwo of{.build = {}, .a = {1, "Model X, 2 cores"}, .b = {2, "Model Y, 4 cores"}};
  of.build.id = 7;
  of.build.name = of.argument = "2.14.0";
  of.sides = side_by_side(
      {measured("a", 1, {100, 101, 99}), measured("a", 2, {50, 51, 49}), measured("b", 1, {10, 10}),
       measured("b", 2, {20, 20, 20}), measured("c", 1, {7})},
      1, 2);
  return of;
}

}  // namespace

TEST_CASE("values that are not above 0 are left out") {
  const auto sides = side_by_side({measured("a", 1, {0, -1}), measured("a", 2, {1, 2, 3}),
                                   measured("b", 1, {0, 4, 4, 4}), measured("b", 2, {2, 2, 2})},
                                  1, 2);
  REQUIRE(sides.benchmarks.size() == 1);
  CHECK(sides.benchmarks[0].runs_a == 3);
  CHECK(sides.benchmarks[0].ratio.high == Approx(0.5));
  REQUIRE(sides.only_b.size() == 1);
  CHECK(sides.only_b[0].workload == "a");
}

TEST_CASE("the document of a build on two classes has null where nothing is known") {
  auto of = build_on_two();
  const auto document = evidence::json_of(of, true);
  CHECK(document.at("build").dump() == R"({"id":7,"name":"2.14.0"})");
  CHECK(document.at("b").dump() == R"({"id":2,"name":"Model Y, 4 cores"})");
  REQUIRE(document.at("benchmarks").size() == 2);
  CHECK(document.at("benchmarks")[0].at("a_ns") == 100);
  CHECK(document.at("benchmarks")[0].at("interval").size() == 2);
  CHECK(document.at("benchmarks")[1].at("interval").is_null());
  CHECK(document.at("geometric_mean").at("interval").is_null());
  CHECK(document.at("only_a")[0].at("workload") == "c");
  of.build.origin = storage::BuildOrigin::folder;
  CHECK(evidence::json_of(of, false).at("build").at("name").is_null());
  CHECK(evidence::json_of(of, true).at("build").at("name") == "2.14.0");
  const auto nothing = evidence::json_of(std::nullopt, true);
  CHECK(nothing.at("build").is_null());
  CHECK(nothing.at("geometric_mean").is_null());
  CHECK(nothing.at("benchmarks").empty());
}

TEST_CASE("what is said beside the benchmarks has the mean, what ran alone and no verdict") {
  const auto sentences = evidence::sentences_on(build_on_two().sides);
  REQUIRE(sentences.size() == 3);
  CHECK(
      sentences[0] ==
      "The geometric mean of 2 benchmarks that ran on both is +0.0 %, too few runs, B against A.");
  CHECK(sentences[1] == "1 benchmark ran on A alone.");
  CHECK_THAT(sentences[2], Catch::Contains("make no pairs") && Catch::Contains("no verdict"));
  const auto nothing = evidence::sentences_on(side_by_side({measured("c", 2, {7})}, 1, 2));
  CHECK(nothing == std::vector<std::string>{"Nothing has been measured on both.",
                                            "1 benchmark ran on B alone."});
}

TEST_CASE("the command of a build on two classes names the classes as a shell takes them") {
  auto of = build_on_two();
  of.b.name = "it's Model Y";
  CHECK(evidence::command_of(of) ==
        "torchwatch compare 2.14.0 --between 'machine=Model X, 2 cores' "
        "--and 'machine=it'\\''s Model Y'");
}
