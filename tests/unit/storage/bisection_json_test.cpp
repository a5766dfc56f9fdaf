#include <catch2/catch.hpp>
#include <limits>

#include "torchwatch/documents/bisection.hpp"

using namespace torchwatch;
using namespace torchwatch::bisection;

TEST_CASE("a stored result reads back as it was") {
  BisectionResult result;
  result.outcome = BisectionOutcome::found;
  const SeriesEffect effect{.series = Series{Benchmark{"dlrm", {}, {}}, Metric::time},
                            .effect = 0.14,
                            .low = 0.12,
                            .high = 0.16,
                            .pairs = 12};
  result.culprits = {{{"c1"}, "p", 0.995, {effect}, "against p", RevertOutcome::change_stays}};
  result.ends = {effect};
  result.commits = 39;
  result.folded = 26;
  result.skipped = {{"c2", "recipe exited 125"}};
  REQUIRE(parse_bisection_result(to_json(result)).value() == result);
  REQUIRE(result.culprit() == "c1");
}

TEST_CASE("a result without the outcome of a revert is read, and its words say the outcome") {
  const auto read = [](const std::string& verified) {
    BisectionResult result;
    result.culprits = {{{"c1"}, "p", 0.995, {}, verified, RevertOutcome::not_tried}};
    auto stored = nlohmann::json::parse(to_json(result));
    stored["culprits"][0].erase("revert");
    stored.erase("revert");
    return parse_bisection_result(stored.dump()).value().culprits.front().revert;
  };
  const std::string revert = "against p; reverting it on the newest commit ";
  CHECK(read("") == RevertOutcome::not_tried);
  CHECK(read("against p") == RevertOutcome::not_tried);
  CHECK(read(revert + "was not possible (it conflicts)") == RevertOutcome::impossible);
  CHECK(read(revert + "undoes the change") == RevertOutcome::change_gone);
  CHECK(read(revert + "did not clearly undo the change (with the commit: dlrm time +0.1 %)") ==
        RevertOutcome::change_stays);
  // Nothing was measured.
  CHECK(read(revert + "did not clearly undo the change") == RevertOutcome::not_tried);
}

TEST_CASE("a result whose reasons are no UTF-8 is stored") {
  BisectionResult result;
  result.reason = "caf\xe9";
  result.skipped = {{"c2", "\xff\xfe"}};
  CHECK(parse_bisection_result(to_json(result)).value().reason == "caf\xEF\xBF\xBD");
}

TEST_CASE("commits that cannot be distinguished are candidates, and none of them is the culprit") {
  BisectionResult result;
  result.outcome = BisectionOutcome::found;
  result.culprits = {{{"c1", "c2"}, "p", 0.99, {}, "", RevertOutcome::not_tried}};
  REQUIRE_FALSE(result.culprit());
  CHECK(result.single_commits().empty());
}

TEST_CASE("of several culprits the largest leads, with all that is said of it") {
  BisectionResult result;
  result.outcome = BisectionOutcome::found;
  result.culprits = {{{"c1", "c2"}, "p", 0.99, {}, "against p", RevertOutcome::not_tried},
                     {{"c3"}, "c2", 0.98, {}, "against c2", RevertOutcome::change_gone}};
  auto printed = nlohmann::json::parse(to_json(result));
  CHECK(printed["culprit"] == nullptr);
  CHECK(printed["candidates"] == nlohmann::json({"c1", "c2"}));
  CHECK(printed["confidence"] == 0.99);
  CHECK(printed["verified"] == "against p");
  CHECK(printed["revert"] == "not_tried");
  CHECK(result.single_commits() == std::vector<std::string>{"c3"});
  std::swap(result.culprits[0], result.culprits[1]);
  printed = nlohmann::json::parse(to_json(result));
  CHECK(printed["culprit"] == "c3");
  CHECK(printed["revert"] == "change_gone");
}

TEST_CASE("an interval that a bisection could not bound prints the same once it was stored") {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  BisectionResult result;
  result.ends = {{.series = Series{Benchmark{"dlrm", {}, {}}, Metric::time},
                  .effect = 0.14,
                  .low = -kUnbounded,
                  .high = kUnbounded,
                  .pairs = 1}};
  const auto stored = to_json(result);
  CHECK(parse_bisection_result(stored).value() == result);
  CHECK(to_json(parse_bisection_result(stored).value()) == stored);
}

TEST_CASE("a result of another shape, or with a word that nobody knows, is corrupt") {
  for (const auto* damaged : {"", "{", "[]", "{}", R"({"outcome": "vanished"})"}) {
    CHECK(parse_bisection_result(damaged).error().code == ErrorCode::corrupt);
  }
  CHECK_THAT(parse_bisection_result(R"({"outcome": "vanished"})").error().message,
             Catch::Contains("outcome of a bisection \"vanished\" is not known"));
}

TEST_CASE("a specification holds a dispute, none, or one that is corrupt") {
  const auto dispute =
      parse_dispute(R"({"dispute": {"bisection": 3, "by": "ada", "reason": "a test", "at": 5}})");
  CHECK(dispute.value() == Dispute{.bisection = 3, .by = "ada", .reason = "a test", .at = 5});
  for (const auto* without : {"", "{", "[]", "{}"})
    CHECK(parse_dispute(without).value() == std::nullopt);
  for (const auto* damaged : {R"({"dispute": 7})", R"({"dispute": {"bisection": 3}})"}) {
    CHECK(parse_dispute(damaged).error().code == ErrorCode::corrupt);
  }
}
