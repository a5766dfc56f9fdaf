#include "torchwatch/bisection/trace.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "torchwatch/bisection/spec.hpp"

using namespace torchwatch;
using namespace torchwatch::bisection;

namespace {

storage::BisectionRow some_search() {
  BisectionSpec spec;
  spec.good = "good";
  spec.bad = "c3";
  spec.series = {{Series{Benchmark{"dlrm", {}, {}}, Metric::time}, 0.02, 0.034}};
  storage::BisectionRow row;
  row.good = spec.good;
  row.bad = spec.bad;
  row.spec_json = to_json(spec);
  return row;
}

std::vector<report::TraceStep> trace(const std::vector<storage::BisectionEventRow>& events) {
  return trace_of(some_search(), events).value();
}

const storage::BisectionEventRow kEnd{0, "built", R"({"candidate":3,"commit":"c3"})"};
const storage::BisectionEventRow kEnds{
    1, "measured",
    R"({"candidate":3,"reference":null,"purpose":"verify_ends","effects":{"0":[0.1,0.2,0.1]},)"
    R"("references":{"0":[7.0,7.5,7.0]},"posterior":[0.25,0.25,0.25,0.25]})"};
const storage::BisectionEventRow kMiddle{2, "built", R"({"candidate":1,"commit":"c1"})"};

}  // namespace

TEST_CASE("a trace names commits, and gives pairs as the change between their sides") {
  const auto steps = trace({kEnd, kEnds});
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].kind == EventKind::built);
  CHECK(steps[1].purpose == bisect::Purpose::verify_ends);
  CHECK(steps[1].commit == "c3");
  CHECK(steps[1].against == "good");
  REQUIRE(steps[1].readings.size() == 1);
  CHECK(steps[1].readings[0].effect == Approx(0.1));
  CHECK(steps[1].readings[0].readings == 3);
}

TEST_CASE("a trace tells the bad end's build from those between the ends, which are counted") {
  const auto steps = trace({kEnd, kEnds, kMiddle});
  CHECK(steps[0].purpose == bisect::Purpose::verify_ends);
  CHECK(sentence_on(steps[0]) == "built c3, the bad end");
  CHECK_FALSE(steps[2].purpose);
  CHECK(sentence_on(steps[2]) == "built c1");
}

TEST_CASE("a trace says who else made a build, and why such a one was set aside") {
  const auto steps = trace(
      {kEnd,
       {1, "built",
        R"({"candidate":null,"commit":"good","content_hash":"h","origin":"https://a.example/good"})"},
       {2, "set_aside", R"({"side":null,"beside":3,"recipe_alone":false})"}});
  CHECK(sentence_on(steps[0]) == "built c3, the bad end");
  CHECK(sentence_on(steps[1]) ==
        "built good, the good end: made elsewhere (https://a.example/good)");
  CHECK(sentence_on(steps[2]) ==
        "set the build of good aside: it was made elsewhere, and that of c3 was not; the recipe "
        "builds it");
}

TEST_CASE("a build measured alone is compared with what the good end had read") {
  const auto steps = trace({kEnd,
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

TEST_CASE("a step keeps the place of its commit and the probability of every class") {
  const auto steps = trace({kEnd, kEnds, kMiddle});
  CHECK(steps[0].place == 3U);
  CHECK(steps[0].posterior.empty());
  CHECK(steps[1].place == 3U);
  CHECK(steps[1].posterior == std::vector<double>{0.25, 0.25, 0.25, 0.25});
  CHECK(steps[2].place == 1U);
}

TEST_CASE("a trace says why a commit was skipped and what the machine changed") {
  const auto steps = trace(
      {{0, "unbuildable", R"({"candidate":2,"commit":"c2","reason":"exit 125","fault":false})"},
       {1, "level_lost", R"({"reason":"kernel"})"}});
  CHECK(steps[0].commit == "c2");
  CHECK(steps[0].reason == "exit 125");
  CHECK(steps[1].reason == "kernel");
  CHECK(steps[1].probability == 0);
}

TEST_CASE("a trace ends with what reverting the culprit showed") {
  const auto steps = trace({kMiddle,
                            {3, "reverted",
                             R"({"candidate":1,"applies":true,"builds":true,"gone":true,)"
                             R"("reason":"","effects":{}})"}});
  CHECK(steps.back().commit == "c1");
  CHECK(steps.back().reason == "undoes the change");
}

TEST_CASE("a damaged event is corrupt, not a step") {
  const auto damaged = trace_of(some_search(), {{0, "measured", "{"}});
  REQUIRE(damaged.error().code == ErrorCode::corrupt);
}

TEST_CASE("what is left of a search is the bits that its posterior lacks") {
  CHECK(commits_left(std::vector<double>(64, 1.0 / 64)) == 6);
  CHECK(commits_left({0.5, 0.25, 0.25, 0}) == 2);
  CHECK(commits_left({0.001, 0.998, 0.001}) == 0);
  CHECK(commits_left({0, 0, 0}) == 0);
}
