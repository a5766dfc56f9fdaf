#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/evidence/work.hpp"

using namespace torchwatch;

namespace {

storage::BisectionRow naming(storage::Id id, std::vector<std::string> commits, double confidence) {
  bisection::NamedCulprit culprit;
  culprit.commits = std::move(commits);
  culprit.confidence = confidence;
  culprit.verified = "against its parent, 6 fresh pairs";
  bisection::BisectionResult result;
  result.culprits = {culprit};
  storage::BisectionRow row;
  row.id = id;
  row.result_json = to_json(result);
  return row;
}

storage::BisectionRow disputing(storage::Id id, storage::Id disputed) {
  auto row = naming(id, {"dddd"}, 0.995);
  const bisection::Dispute dispute{
      .bisection = disputed, .by = "ada", .reason = "it is a test", .at = 1};
  row.spec_json = nlohmann::json{{"dispute", dispute}}.dump();
  return row;
}

}  // namespace

TEST_CASE("only single commits that were named with 99 % are counted as sure") {
  const auto calibration =
      evidence::calibration_of({naming(1, {"aaaa"}, 0.995), naming(2, {"bbbb"}, 0.95),
                                naming(3, {"cccc", "dddd"}, 0.999), naming(4, {"eeee"}, 0.99)});
  CHECK(calibration.named == 4);
  CHECK(calibration.sure == 2);
  CHECK(calibration.disputed == 0);
  CHECK(calibration.held() == 2);
}

TEST_CASE("a sure culprit that a later search was asked to disprove did not hold") {
  const auto calibration = evidence::calibration_of(
      {naming(1, {"aaaa"}, 0.995), naming(2, {"bbbb"}, 0.95), disputing(3, 1), disputing(4, 2)});
  CHECK(calibration.sure == 3);
  CHECK(calibration.disputed == 1);
  CHECK(calibration.held() == 2);
}

TEST_CASE("a culprit that its revert contradicts is not counted as held") {
  auto result = bisection::parse_bisection_result(naming(1, {"aaaa"}, 0.995).result_json).value();
  using enum bisection::RevertOutcome;
  for (const auto revert : {change_gone, impossible, not_tried, change_stays}) {
    result.culprits.front().revert = revert;
    storage::BisectionRow row;
    row.id = 1;
    row.result_json = to_json(result);
    const auto calibration = evidence::calibration_of({row});
    CHECK(calibration.named == 1);
    CHECK(calibration.held() == (revert == change_stays ? 0 : 1));
  }
}

TEST_CASE("a commit that is named beside a larger cause that was not decided counts as sure") {
  auto result =
      bisection::parse_bisection_result(naming(1, {"aaaa", "bbbb"}, 0.995).result_json).value();
  result.culprits.push_back(
      bisection::parse_bisection_result(naming(1, {"cccc"}, 0.995).result_json)
          .value()
          .culprits[0]);
  storage::BisectionRow row;
  row.result_json = to_json(result);
  CHECK(evidence::calibration_of({row}).sure == 1);
}

TEST_CASE("searches that ended without a culprit, or are damaged, are counted by nobody") {
  storage::BisectionRow open;
  open.id = 1;
  storage::BisectionRow damaged = naming(2, {"aaaa"}, 0.995);
  damaged.result_json = "{";
  damaged.spec_json = "[";
  const auto calibration = evidence::calibration_of({open, damaged});
  CHECK(calibration.named == 0);
  CHECK(calibration.sure == 0);
}
