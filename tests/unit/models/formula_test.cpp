#include <catch2/catch.hpp>

#include "torchwatch/models/draw.hpp"
#include "torchwatch/models/registry.hpp"

using namespace torchwatch::models;

TEST_CASE("the formula's hashes are those of its test vectors") {
  const auto first = [](std::uint32_t stream) {
    return std::vector<std::uint32_t>{formula_hash(stream, 0), formula_hash(stream, 1),
                                      formula_hash(stream, 2), formula_hash(stream, 3)};
  };
  REQUIRE(first(0) == std::vector<std::uint32_t>{33350994, 2672842292, 127880910, 260803382});
  REQUIRE(first(1) == std::vector<std::uint32_t>{83415710, 1136996714, 3251024775, 197629295});
  REQUIRE(first(200000) ==
          std::vector<std::uint32_t>{978287562, 3639275428, 1545266266, 1411430099});
}

TEST_CASE("a weight, an input and a class drawn by the formula are those of its test vectors") {
  const auto weight = torch::empty({64, 3, 7, 7});
  fill_by_formula({{"conv1.weight", weight}}, {});
  REQUIRE(weight.flatten()[0].item<double>() == Approx(-0.14063853).epsilon(1e-7));

  Draw draw(Fill::formula);
  REQUIRE(draw.normal({1}).item<double>() == Approx(-0.943013966).epsilon(1e-7));
  REQUIRE(draw.integers(1000, {1}).item<std::int64_t>() == 995);
}

TEST_CASE("a network filled by the formula does not depend on the seed") {
  const auto values = [](std::uint64_t seed) {
    const auto workload =
        build(find("resnet18")->definition,
              {.mode = Mode::train, .batch = 2, .fill = Fill::formula, .seed = seed});
    return workload->values();
  };
  const auto one = values(1);
  const auto two = values(2);
  REQUIRE(one.parameter_sum == two.parameter_sum);
  REQUIRE(one.loss == two.loss);
  REQUIRE(one.gradient_norm == two.gradient_norm);
  REQUIRE(one.gradient_norm > 0);
  REQUIRE(one.outputs.front().first == two.outputs.front().first);
}
