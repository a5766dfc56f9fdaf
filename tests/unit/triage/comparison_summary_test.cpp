#include "torchwatch/triage/comparison_summary.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::triage;

TEST_CASE("a stored summary reads back as it was, and one with nothing to say is empty") {
  ComparisonSummary summary;
  REQUIRE(to_json(summary).empty());
  REQUIRE(parse_summary("").value() == summary);
  REQUIRE(in_sentences(summary).empty());
  summary.machine_shifts = {{Device::cuda, 1.3, 1.25, 1.5, 9}};
  summary.machine_changes = {"cpu_governor: performance -> powersave"};
  summary.left_out = {Benchmark{"dlrm", {Device::cpu, Mode::infer}, {}}};
  summary.is_unconfined = true;
  REQUIRE(parse_summary(to_json(summary)).value() == summary);
  REQUIRE(in_sentences(summary).size() == 4);
  REQUIRE_THAT(in_sentences(summary)[0], Catch::Contains("+30.0 %"));
  REQUIRE_THAT(in_sentences(summary)[2], Catch::StartsWith("The runs were not confined: "));
  REQUIRE(parse_summary("{}").error().code == ErrorCode::corrupt);
  REQUIRE(parse_summary("{").error().code == ErrorCode::corrupt);
}

TEST_CASE("a summary of an earlier version does not say whether its runs were confined") {
  const auto stored = R"({"machine_shifts": [], "machine_changes": ["a"], "left_out": []})";
  CHECK_FALSE(parse_summary(stored).value().is_unconfined);
}
