#include "torchwatch/bisection/trace.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "events.hpp"
#include "recorded_search.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/storage/bisection_store.hpp"

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

/// The events of a search among 16 commits whose exact change comes with c5, to its end or until
/// that many measurements were made, as the driver stores them.
std::vector<storage::BisectionEventRow> real_events(BisectionSpec& spec, int measurements) {
  constexpr std::size_t kCulprit = 5;
  constexpr std::size_t kCommits = 16;
  spec.good = "good";
  spec.bad = "c15";
  spec.series = {{Series{Benchmark{"dlrm", {}, {}}, Metric::cpu_peak}, 0, 1}};
  auto search = search_of(spec, kCommits).value();
  std::vector<storage::BisectionEventRow> rows;
  const auto add = [&](BisectionEvent event) {
    if (const auto applied = search_event_of(event)) REQUIRE(search.apply(*applied));
    if (auto* pairs = std::get_if<PairsMeasured>(&event)) pairs->posterior = search.posterior();
    if (auto* runs = std::get_if<RunsMeasured>(&event)) runs->posterior = search.posterior();
    rows.push_back(row_of(event, static_cast<int>(rows.size())));
  };
  const auto reading = [](const bisect::Reference& at) {
    return 1e6 + (at && *at >= kCulprit ? 4096 : 0);
  };
  add(CommitBuilt{.candidate = kCommits - 1, .commit = "c15", .content_hash = {}, .origin = {}});
  for (int made = 0; made < measurements; ++made) {
    const auto next = search.next();
    const auto* wanted = std::get_if<bisect::Measure>(&next);
    if (wanted == nullptr) break;
    for (const auto place : search.next_builds(1)) {
      add(CommitBuilt{place, "c" + std::to_string(place), {}, {}});
    }
    const auto count = static_cast<std::size_t>(wanted->pairs);
    const auto at = reading(wanted->candidate);
    const auto before = reading(wanted->reference);
    if (wanted->alone) {
      add(RunsMeasured{{wanted->candidate, {{0, std::vector(count, at)}}}, wanted->purpose, {}});
      continue;
    }
    add(PairsMeasured{{wanted->candidate,
                       wanted->reference,
                       {{0, std::vector(count, at - before)}},
                       {{0, std::vector(count, before)}}},
                      wanted->purpose,
                      {}});
  }
  return rows;
}

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

TEST_CASE("a build that was at hand before the search is not a step, and is named once read") {
  const storage::BisectionEventRow at_hand{
      2, "built", R"({"candidate":1,"commit":"c1","content_hash":"h","origin":"","at_hand":true})"};
  const auto unread = trace({kEnd, at_hand});
  REQUIRE(unread.size() == 1);
  CHECK(unread[0].commit == "c3");
  const auto read =
      trace({kEnd,
             at_hand,
             {3, "measured",
              R"({"candidate":1,"reference":null,"purpose":"probe","effects":{"0":[0.1,0.1,0.1]},)"
              R"("posterior":[0.45,0.45,0.05,0.05]})"}});
  REQUIRE(read.size() == 2);
  CHECK(read[1].commit == "c1");
  CHECK(read[1].after == "good");
  CHECK(read[1].up_to == "c1");
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

TEST_CASE("a revert that leaves the change says so, and one that measured nothing why") {
  const auto reason_of = [](const std::string& rest) {
    const auto json = R"({"candidate":1,"applies":true,"builds":true,"gone":false,)" + rest;
    return trace({kMiddle, {3, "reverted", json}}).back().reason;
  };
  CHECK(reason_of(R"("reason":"","effects":{"0":0.001}})") == "leaves the change");
  CHECK(reason_of(R"("reason":"it crashed","effects":{}})") == "it crashed");
}

TEST_CASE("a damaged event is corrupt, not a step") {
  const auto damaged = trace_of(some_search(), {{0, "measured", "{"}});
  REQUIRE(damaged.error().code == ErrorCode::corrupt);
}

TEST_CASE("an event with a series that is not searched for is corrupt") {
  const storage::BisectionEventRow foreign{
      1, "measured_alone",
      R"({"candidate":3,"purpose":"probe","readings":{"1":[7]},"posterior":[]})"};
  const auto damaged = trace_of(some_search(), {kEnd, foreign});
  REQUIRE(damaged.error().code == ErrorCode::corrupt);
  CHECK_THAT(damaged.error().message, Catch::Contains("event 1: it has a series"));
}

TEST_CASE("a step says why it was the next one, as the search reckoned before it") {
  BisectionSpec spec;
  storage::BisectionRow row;
  const auto events = real_events(spec, 100);
  row.spec_json = to_json(spec);
  const auto steps = trace_of(row, events).value();
  const auto ends = std::ranges::find(steps, EventKind::measured, &report::TraceStep::kind);
  REQUIRE(ends->why);
  CHECK(sentence_on(*ends->why) == "all that follows rests on the difference between the ends");
  // The first build is of the middle one of 16 commits that are alike.
  const auto build = std::next(std::ranges::find_if(
      steps, [](const auto& step) { return step.posterior.size() == 16 && step.probability > 0; }));
  REQUIRE(build->kind == EventKind::built);
  CHECK(build->commit == "c7");
  REQUIRE(build->why);
  CHECK(sentence_on(*build->why) ==
        "with 50 % the culprit is this commit or an earlier one, and it must be built first; "
        "it tells the most for its cost, about 1.00 bits for 1 run and a build; no other commit "
        "splits what is left more evenly");
  const auto& probe = *std::next(build);
  REQUIRE(probe.why);
  CHECK(probe.why->probe->chosen.builds == 0);
  CHECK(report::json_of(probe).at("why") == sentence_on(*probe.why));
  const auto verified = std::ranges::find_if(
      steps, [](const auto& step) { return step.purpose == bisect::Purpose::verify_culprit; });
  REQUIRE(verified != steps.end());
  REQUIRE(verified->why);
  CHECK(verified->why->mass > 0.9);
}

TEST_CASE("a search of other rules gives no reasons from where it leads elsewhere") {
  BisectionSpec spec;
  storage::BisectionRow row;
  auto events = real_events(spec, 3);
  row.spec_json = to_json(spec);
  const auto before = trace_of(row, events).value();
  REQUIRE(before.back().why);
  const auto ends = std::ranges::find(events, "measured", &storage::BisectionEventRow::kind);
  auto body = nlohmann::json::parse(ends->body_json);
  body["posterior"][0] = 0.9;
  ends->body_json = body.dump();
  const auto after = trace_of(row, events).value();
  REQUIRE(after.size() == before.size());
  CHECK_FALSE(after.back().why);
}

TEST_CASE("an open search says what it does next, why, and what it has cost") {
  test::TemporaryFolder folder;
  const auto database =
      storage::Database::open({folder.path() / "torchwatch.sqlite", "", false}).value();
  storage::BisectionStore store(*database);
  BisectionSpec spec;
  const auto events = real_events(spec, 2);
  storage::BisectionRow row;
  row.good = spec.good;
  row.bad = spec.bad;
  row.spec_json = to_json(spec);
  row = store.open(row).value();
  CHECK_FALSE(replay_of(*database, row).outlook);
  for (const auto& event : events) REQUIRE(store.append(row.id, event));

  const auto replay = replay_of(*database, row);
  CHECK_FALSE(replay.damage);
  CHECK(replay.steps.size() == events.size());
  const auto& outlook = replay.outlook;
  REQUIRE(outlook);
  CHECK(outlook->spent.builds == 1);
  CHECK(outlook->runs_max == spec.runs_max);
  CHECK(outlook->commits_left == 3);
  REQUIRE(outlook->next);
  CHECK(outlook->needs_build);
  CHECK(outlook->next->commit.empty());
  CHECK_THAT(sentence_on(*outlook),
             Catch::StartsWith("Next: build and measure commit 4 of the 16 that can have the "
                               "culprit alone. Why: with 50 % the culprit is this commit"));
}
