#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "torchwatch/bisect/culprit_search.hpp"
#include "torchwatch/bisection/result.hpp"
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
  spec.base_folder = "/builds/base";
  spec.verify_by_revert = false;
  REQUIRE(parse_bisection_spec(to_json(spec)).value() == spec);
}

TEST_CASE("a stored result reads back as it was") {
  BisectionResult result;
  result.outcome = BisectionOutcome::found;
  const SeriesEffect effect{.series = Series{Benchmark{"dlrm", {}, {}}, Metric::time},
                            .effect = 0.14,
                            .low = 0.12,
                            .high = 0.16,
                            .pairs = 12};
  result.culprits = {{{"c1"}, "p", 0.995, {effect}, "against p"}};
  result.ends = {effect};
  result.commits = 39;
  result.folded = 26;
  result.skipped = {{"c2", "recipe exited 125"}};
  REQUIRE(parse_bisection_result(to_json(result)).value() == result);
  REQUIRE(result.culprit() == "c1");
}

TEST_CASE("commits that cannot be told apart are candidates, and none of them is the culprit") {
  BisectionResult result;
  result.outcome = BisectionOutcome::found;
  result.culprits = {{{"c1", "c2"}, "p", 0.99, {}, ""}};
  REQUIRE_FALSE(result.culprit());
}

TEST_CASE("of several culprits the largest that is one commit leads, with all that is said of it") {
  BisectionResult result;
  result.outcome = BisectionOutcome::found;
  result.culprits = {{{"c1", "c2"}, "p", 0.99, {}, ""}, {{"c3"}, "c2", 0.98, {}, "against c2"}};
  const auto printed = nlohmann::json::parse(to_json(result));
  CHECK(printed["culprit"] == "c3");
  CHECK(printed["candidates"] == nlohmann::json({"c3"}));
  CHECK(printed["confidence"] == 0.98);
  CHECK(printed["verified"] == "against c2");
}

TEST_CASE("stored JSON of another shape is corrupt") {
  REQUIRE(parse_bisection_spec("{}").error().code == ErrorCode::corrupt);
  REQUIRE(parse_bisection_result("[]").error().code == ErrorCode::corrupt);
}

TEST_CASE("every outcome has one spelling, which is the search's where the search has it") {
  using bisect::Outcome;
  CHECK(to_string(BisectionOutcome::found) == bisect::to_string(Outcome::found));
  CHECK(to_string(BisectionOutcome::partly_found) == bisect::to_string(Outcome::partly_found));
  CHECK(to_string(BisectionOutcome::not_told_apart) == bisect::to_string(Outcome::not_told_apart));
  CHECK(to_string(BisectionOutcome::did_not_reproduce) ==
        bisect::to_string(Outcome::did_not_reproduce));
  CHECK(to_string(BisectionOutcome::nothing_to_search) ==
        bisect::to_string(Outcome::nothing_to_search));
  CHECK(to_string(BisectionOutcome::faulted) == "faulted");
  CHECK(parse_bisection_outcome("faulted").value() == BisectionOutcome::faulted);
  CHECK(parse_bisection_outcome("vanished").error().code == ErrorCode::corrupt);
}
