#include <catch2/catch.hpp>

#include "torchwatch/bisection/spec.hpp"

using namespace torchwatch;
using namespace torchwatch::bisection;

TEST_CASE("a stored specification reads back as it was") {
  BisectionSpec spec;
  spec.good = "a";
  spec.bad = "b";
  spec.series = {{Series{Benchmark{"dlrm", {}, {}}, Metric::leak_growth}, 0, 32}};
  spec.plan.benchmarks = {spec.series[0].series.benchmark};
  spec.plan.threads = 2;
  spec.cannot_change = {"docs/**"};
  spec.base = 7;
  spec.verify_by_revert = false;
  REQUIRE(parse_bisection_spec(to_json(spec)).value() == spec);
}

TEST_CASE("a specification of an earlier version keeps the folder that it started from") {
  BisectionSpec spec;
  spec.base_folder = "/builds/base";
  auto stored = nlohmann::json::parse(to_json(spec));
  CHECK(stored.at("base_folder") == "/builds/base");
  CHECK_FALSE(stored.contains("base"));
  REQUIRE(parse_bisection_spec(stored.dump()).value() == spec);
}

TEST_CASE("a stored specification of another shape is corrupt") {
  REQUIRE(parse_bisection_spec("{}").error().code == ErrorCode::corrupt);
}
