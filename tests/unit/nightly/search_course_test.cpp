#include "torchwatch/nightly/search_course.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "torchwatch/nightly/search_order.hpp"

using namespace torchwatch;
using namespace torchwatch::nightly;

namespace {

storage::BisectionRow some_search() {
  SearchOrder order;
  order.good = "good";
  order.bad = "c3";
  order.targets = {{Target{Cell{"dlrm", {}, {}}, Metric::time}, 0.02, 0.034}};
  storage::BisectionRow row;
  row.good = order.good;
  row.bad = order.bad;
  row.request_json = to_json(order);
  return row;
}

std::vector<CourseStep> course(const std::vector<storage::BisectionEventRow>& events) {
  return course_of(some_search(), events).value();
}

const storage::BisectionEventRow kEnd{0, "built", R"({"candidate":3,"commit":"c3"})"};
const storage::BisectionEventRow kEnds{
    1, "measured",
    R"({"candidate":3,"reference":null,"purpose":"verify_ends","effects":{"0":[0.1,0.2,0.1]},)"
    R"("references":{"0":[7.0,7.5,7.0]},"posterior":[0.25,0.25,0.25,0.25]})"};
const storage::BisectionEventRow kMiddle{2, "built", R"({"candidate":1,"commit":"c1"})"};

}  // namespace

TEST_CASE("a course names commits, and tells pairs as the change between their sides") {
  const auto steps = course({kEnd, kEnds});
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].kind == "built");
  CHECK(steps[1].purpose == "verify_ends");
  CHECK(steps[1].commit == "c3");
  CHECK(steps[1].against == "good");
  REQUIRE(steps[1].readings.size() == 1);
  CHECK(steps[1].readings[0].effect == Approx(0.1));
  CHECK(steps[1].readings[0].readings == 3);
}

TEST_CASE("a build measured alone is told against what the good end had read") {
  const auto steps = course({kEnd,
                             kEnds,
                             kMiddle,
                             {3, "measured_alone",
                              R"({"candidate":1,"purpose":"probe","readings":{"0":[7.25]},)"
                              R"("posterior":[0.5,0.4,0.05,0.05]})"}});
  const auto& alone = steps.back();
  CHECK(alone.commit == "c1");
  CHECK(alone.against.empty());
  REQUIRE(alone.readings.size() == 1);
  CHECK(alone.readings[0].effect == Approx(0.25));
  CHECK(alone.after == "good");
  CHECK(alone.up_to == "c1");
  CHECK(alone.probability == Approx(0.9));
}

TEST_CASE("a course tells why a commit was skipped and what the machine changed") {
  const auto steps =
      course({{0, "unbuildable", R"({"candidate":2,"commit":"c2","reason":"exit 125"})"},
              {1, "level_lost", R"({"reason":"kernel"})"}});
  CHECK(steps[0].commit == "c2");
  CHECK(steps[0].reason == "exit 125");
  CHECK(steps[1].reason == "kernel");
  CHECK(steps[1].probability == 0);
}

TEST_CASE("a course ends with what reverting the culprit showed") {
  const auto steps =
      course({kMiddle, {3, "reverted", R"({"candidate":1,"gone":true,"reason":"","effects":{}})"}});
  CHECK(steps.back().commit == "c1");
  CHECK(steps.back().reason == "takes the change away");
}

TEST_CASE("a damaged event is corrupt, not a step") {
  const auto damaged = course_of(some_search(), {{0, "measured", "{"}});
  REQUIRE(damaged.error().code == ErrorCode::corrupt);
}
