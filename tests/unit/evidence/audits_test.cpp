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
