#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>
#include <variant>
#include <vector>

#include "search_days.hpp"
#include "torchwatch/bisect/culprit_search.hpp"
#include "torchwatch/bisect/early_answer.hpp"

using namespace torchwatch;
using namespace torchwatch::bisect;
using namespace torchwatch::test;

TEST_CASE("a budget of builds ends the search with suspects that hold the culprit") {
  SearchSettings settings;
  settings.builds_max = 3;
  for (std::size_t culprit = 0; culprit < 40; ++culprit) {
    const auto done = search_through(exact_day(40, culprit), {kExactBytes}, 1, settings);
    const auto& suspects = done.answer.suspects;
    CAPTURE(culprit);
    if (done.answer.outcome == Outcome::found) continue;
    REQUIRE(done.answer.outcome == Outcome::not_told_apart);
    REQUIRE(std::count(suspects.begin(), suspects.end(), culprit) == 1);
    REQUIRE(suspects.size() < 10);
    REQUIRE(done.answer.suspects_confidence >= 0.99);
    REQUIRE(done.answer.builds <= 3);
    REQUIRE_THAT(done.answer.reason, Catch::Contains("budget"));
  }
}

TEST_CASE("a budget of runs is kept, wherever it ends the search") {
  for (int runs_max = 1; runs_max < 120; runs_max += 7) {
    SearchSettings settings;
    settings.runs_max = runs_max;
    const auto done = search_through(noisy_day(20, 9, 1.08, 0.03), {noisy(0.03)}, 4, settings);
    REQUIRE(done.answer.runs <= runs_max);
    for (const auto& culprit : done.answer.culprits) REQUIRE(culprit.classes == Classes{9});
    if (done.answer.culprits.empty()) REQUIRE(done.answer.outcome == Outcome::not_told_apart);
  }
}

TEST_CASE("what is believed when a budget ends the search is kept, with its last readings") {
  SearchSettings settings;
  settings.builds_max = 3;
  int ended = 0;
  for (std::size_t culprit = 0; culprit < 40; culprit += 3) {
    auto search = CulpritSearch::create(settings, {kExactBytes}, 40).value();
    SimulatedRuns runs(exact_day(40, culprit), 1);
    const auto answer = run_to_end(search, runs).answer;
    if (answer.outcome == Outcome::found) continue;
    ++ended;
    CAPTURE(culprit);
    const auto believed = search.posterior();
    CHECK(std::accumulate(believed.begin(), believed.end(), 0.0) == Approx(1));
    double held = 0;
    for (const auto suspect : answer.suspects) held += believed.at(suspect);
    CHECK(held == Approx(answer.suspects_confidence));
  }
  CHECK(ended > 0);
}

TEST_CASE("a limit of one is said as one") {
  SearchSettings settings;
  settings.builds_max = 1;
  const auto done = search_through(exact_day(40, 20), {kExactBytes}, 1, settings);
  CHECK_THAT(done.answer.reason, Catch::Contains("The budget of 1 build and 1000 runs ended"));
}

TEST_CASE("builds that are there from the start are used first and cost no build") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 32).value();
  for (const std::size_t built : {9U, 10U, 11U, 12U}) {
    REQUIRE(search.apply(Built{built}).has_value());
  }
  SimulatedRuns runs(exact_day(32, 11), 1);
  const auto done = run_to_end(search, runs);
  REQUIRE(done.answer.culprits.at(0).classes == Classes{11});
  REQUIRE(done.answer.builds == 0);
}

TEST_CASE("a build that is there from the start and does not run is not counted") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 32).value();
  for (const std::size_t built : {9U, 10U, 11U}) REQUIRE(search.apply(Built{built}));
  SimulatedRuns runs(exact_day(32, 11), 1);
  REQUIRE(search.apply(runs.carry_out(std::get<Measure>(search.next()))));
  REQUIRE(search.apply(Unbuildable{9}));
  CHECK(search.spent().builds == 0);
  const auto done = run_to_end(search, runs);
  CHECK(done.answer.culprits.at(0).classes == Classes{11});
  CHECK(done.answer.builds == 0);
}

TEST_CASE("a build that is set aside takes its readings with it, and the search continues") {
  const std::optional<std::size_t> side =
      GENERATE(std::optional<std::size_t>{}, std::optional<std::size_t>{10},
               std::optional<std::size_t>{11}, std::optional<std::size_t>{31});
  auto search = CulpritSearch::create({}, {kExactBytes}, 32).value();
  SimulatedRuns runs(exact_day(32, 11), 1);
  const auto before = run_to_end(search, runs);
  REQUIRE(before.answer.culprits.at(0).classes == Classes{11});
  REQUIRE(search.apply(SetAside{side}));
  const auto action = search.next();
  REQUIRE(std::holds_alternative<Measure>(action));
  const bool is_end = !side || *side == 31;
  CHECK((std::get<Measure>(action).purpose == Purpose::verify_ends) == is_end);
  const auto after = run_to_end(search, runs);
  CHECK(after.answer.outcome == Outcome::found);
  CHECK(after.answer.culprits.at(0).classes == Classes{11});
}

TEST_CASE("a build that is set aside after it was measured may turn out not to be buildable") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 8).value();
  SimulatedRuns runs(exact_day(8, 5), 1);
  run_to_end(search, runs);
  REQUIRE_FALSE(search.apply(Unbuildable{4}));
  REQUIRE(search.apply(SetAside{4}));
  REQUIRE(search.apply(Unbuildable{4}));
  CHECK(run_to_end(search, runs).answer.culprits.at(0).classes == Classes{4, 5});
}

namespace {

struct Rounds {
  Answer answer;
  int rounds = 0;
  int builds = 0;
};

/// A search that waits for n builds at a time.
Rounds search_with_builders(const SimulatedDay& day, std::size_t builders) {
  SimulatedRuns runs(day, 1);
  auto search = CulpritSearch::create({}, {kExactBytes}, day.classes).value();
  for (Rounds result;;) {
    const Action action = search.next();
    if (const auto* answer = std::get_if<Answer>(&action)) {
      result.answer = *answer;
      return result;
    }
    const auto builds = search.next_builds(builders);
    REQUIRE(builds.size() <= builders);
    for (const auto build : builds) {
      const bool fails = day.unbuildable.contains(build);
      const auto event = fails ? SearchEvent(Unbuildable{build}) : SearchEvent(Built{build});
      REQUIRE(search.apply(event).has_value());
    }
    result.builds += static_cast<int>(builds.size());
    result.rounds += builds.empty() ? 0 : 1;
    if (builds.empty()) {
      REQUIRE(search.apply(runs.carry_out(std::get<Measure>(action))).has_value());
    }
  }
}

}  // namespace

TEST_CASE("one builder builds what the next measurement needs") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 32).value();
  REQUIRE(search.next_builds(1).empty());  // the ends are there
  REQUIRE(search.apply(Measured{31, {}, {{0, {64.0, 64.0}}}}).has_value());
  const auto measure = std::get<Measure>(search.next());
  REQUIRE(search.next_builds(1) == Classes{measure.candidate});
  REQUIRE(search.next_builds(0) == Classes{measure.candidate});
}

TEST_CASE("several builders share the range evenly, and need fewer rounds for the same answer") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 99).value();
  REQUIRE(search.apply(Measured{98, {}, {{0, {64.0, 64.0}}}}).has_value());
  REQUIRE(search.next_builds(2) == Classes{32, 65});
  for (std::size_t culprit = 0; culprit < 99; culprit += 7) {
    SimulatedDay day = exact_day(99, culprit);
    day.unbuildable = {20, 21, 50, 70, 71, 72};
    const auto one = search_with_builders(day, 1);
    const auto four = search_with_builders(day, 4);
    CAPTURE(culprit, one.rounds, four.rounds, one.builds, four.builds);
    REQUIRE(one.rounds == one.builds);
    REQUIRE(four.rounds <= 5);
    REQUIRE(four.rounds < one.rounds);
    REQUIRE(four.answer.culprits.at(0).classes == one.answer.culprits.at(0).classes);
  }
}

TEST_CASE("classes with one library are never blamed and their span is skipped") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 16).value();
  REQUIRE(search.apply(SameLibrary{{}, 5}).has_value());
  REQUIRE(search.apply(SameLibrary{7, 14}).has_value());
  SimulatedRuns runs(exact_day(16, 7), 1);
  const auto done = run_to_end(search, runs);  // 6, 7 and 15 are left
  REQUIRE(done.answer.culprits.at(0).classes == Classes{7});
  REQUIRE(done.answer.builds <= 3);
}

TEST_CASE("what the library of a build has joined is apart again once the build is set aside") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 16).value();
  REQUIRE(search.apply(SameLibrary{4, 5}));
  REQUIRE(search.apply(SameLibrary{7, 9}));
  REQUIRE(search.apply(SetAside{4}));
  SimulatedRuns runs(exact_day(16, 5), 1);
  CHECK(run_to_end(search, runs).answer.culprits.at(0).classes == Classes{5});
}

TEST_CASE("ends that differ although every library is the same are not blamed on anybody") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 4).value();
  REQUIRE(search.apply(SameLibrary{{}, 3}).has_value());
  REQUIRE(search.apply(Measured{3, {}, {{0, {50.0, 50.0}}}}).has_value());
  const auto answer = std::get<Answer>(search.next());
  REQUIRE(answer.outcome == Outcome::not_told_apart);
  REQUIRE(answer.suspects.empty());
  REQUIRE_THAT(answer.reason, Catch::Contains("same library"));
}

TEST_CASE("a likely class is looked at first") {
  std::vector<double> prior(64, 1.0);
  prior[20] = 200;
  auto search = CulpritSearch::create({}, {kExactBytes}, 64).value();
  REQUIRE(search.apply(Weighed{prior}).has_value());
  SimulatedRuns runs(exact_day(64, 20), 1);
  const auto done = run_to_end(search, runs);
  REQUIRE(done.answer.culprits.at(0).classes == Classes{20});
  REQUIRE(done.answer.builds <= 3);
}

TEST_CASE("a verification that fails is not a culprit") {
  // Every probe from 4 on looks bad, but measured directly 4 does not differ from 3: something else
  // than the commits has changed between the sessions.
  auto search = CulpritSearch::create({}, {noisy(0.02)}, 8).value();
  std::optional<Answer> answer;
  for (int step = 0; step < 1000 && !answer; ++step) {
    const Action action = search.next();
    if (const auto* end = std::get_if<Answer>(&action)) {
      answer = *end;
      continue;
    }
    const auto& measure = std::get<Measure>(action);
    const bool looks_bad = !measure.reference && measure.candidate >= 4;
    const std::vector<double> effects(static_cast<std::size_t>(measure.pairs),
                                      looks_bad ? 0.08 : 0.0);
    REQUIRE(
        search.apply(Measured{measure.candidate, measure.reference, {{0, effects}}}).has_value());
  }
  REQUIRE(answer.has_value());
  REQUIRE(answer->culprits.empty());
  REQUIRE(answer->outcome == Outcome::not_told_apart);
}

TEST_CASE("events that cannot be are refused and change nothing") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 4).value();
  REQUIRE(search.apply(Measured{3, {}, {{0, {100.0, 100.0}}}}).has_value());
  REQUIRE(search.apply(Unbuildable{1}).has_value());
  const auto before = search.posterior();
  const auto code = [&](const SearchEvent& event) { return search.apply(event).error().code; };
  const double nan = std::numeric_limits<double>::quiet_NaN();

  REQUIRE(code(Measured{4, {}, {}}) == ErrorCode::invalid);
  REQUIRE(code(Measured{2, 9, {}}) == ErrorCode::invalid);
  REQUIRE(code(Measured{2, 2, {}}) == ErrorCode::invalid);
  REQUIRE(code(Measured{2, {}, {{1, {1.0}}}}) == ErrorCode::invalid);
  REQUIRE(code(Measured{2, {}, {{0, {nan}}}}) == ErrorCode::invalid);
  REQUIRE(code(Measured{1, {}, {{0, {1.0}}}}) == ErrorCode::conflict);
  REQUIRE(code(Measured{2, {}, {{0, {1.0}}}, {{0, {1.0, 2.0}}}}) == ErrorCode::invalid);
  REQUIRE(code(Measured{2, {}, {{0, {1.0}}}, {{0, {nan}}}}) == ErrorCode::invalid);
  REQUIRE(code(MeasuredAlone{4, {}}) == ErrorCode::invalid);
  REQUIRE(code(MeasuredAlone{1, {}}) == ErrorCode::conflict);
  REQUIRE(code(MeasuredAlone{2, {{0, {1.0}}}}) == ErrorCode::conflict);  // no level is known
  REQUIRE(code(Built{1}) == ErrorCode::conflict);
  REQUIRE(code(Built{7}) == ErrorCode::invalid);
  REQUIRE(code(Unbuildable{3}) == ErrorCode::conflict);
  REQUIRE(code(SameLibrary{2, 2}) == ErrorCode::invalid);
  REQUIRE(code(SameLibrary{3, 1}) == ErrorCode::invalid);
  REQUIRE(code(SeriesLost{1}) == ErrorCode::invalid);
  REQUIRE(search.posterior() == before);
}

TEST_CASE("settings that make no sense are refused") {
  const auto refused = [](SearchSettings settings, SearchSeries series) {
    return CulpritSearch::create(settings, {series}, 4).error().code == ErrorCode::invalid;
  };
  SearchSettings settings;
  settings.confidence = 1;
  REQUIRE(refused(settings, kExactBytes));
  settings = {};
  settings.runs_max = 0;
  REQUIRE(refused(settings, kExactBytes));
  REQUIRE(refused({}, {-1, 4, 1}));
  REQUIRE(refused({}, {0.1, 0, 1}));
  REQUIRE(refused({}, {0.1, 4, 0}));
  REQUIRE_FALSE(CulpritSearch::create({}, {}, 4).has_value());
}

TEST_CASE("weights that make no sense, or come too late, are refused") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 2).value();
  const auto code = [&](std::vector<double> weights) {
    return search.apply(Weighed{std::move(weights)}).error().code;
  };
  CHECK(code({1, 1, 1}) == ErrorCode::invalid);
  CHECK(code({1, 0}) == ErrorCode::invalid);
  CHECK(code({1, std::nan("")}) == ErrorCode::invalid);
  REQUIRE(search.apply(Measured{1, {}, {{0, {50.0, 50.0}}}}).has_value());
  CHECK(code({1, 2}) == ErrorCode::conflict);
}

TEST_CASE("a culprit that was held for unlikely is found all the same, for a build or two more") {
  std::vector<double> weights(64, 1.0);
  weights[20] = 0.1;
  auto search = CulpritSearch::create({}, {kExactBytes}, 64).value();
  REQUIRE(search.apply(Weighed{weights}).has_value());
  SimulatedRuns runs(exact_day(64, 20), 1);
  const auto done = run_to_end(search, runs);
  REQUIRE(done.answer.culprits.at(0).classes == Classes{20});
  CHECK(done.answer.builds <= 8);
}

TEST_CASE("a search that ends early names the culprits that it has verified by then, no other") {
  const SimulatedDay day{30, {{{7, 4096}, {21, 8192}}}, {}, {}};
  const auto done = search_through(day, {kExactBytes});
  REQUIRE(done.answer.culprits.size() == 2);
  std::vector<SearchEvent> events;
  std::vector<std::size_t> named{0};
  for (const auto& event : done.events) {
    events.push_back(event);
    const auto now = early_answer({}, {kExactBytes}, day.classes, events, "cancelled").value();
    named.push_back(now.culprits.size());
    REQUIRE(named.back() >= named[named.size() - 2]);
    for (const auto& culprit : now.culprits) {
      CHECK((culprit.classes == Classes{7} || culprit.classes == Classes{21}));
    }
    if (now.culprits.empty()) continue;
    CHECK(now.outcome == Outcome::partly_found);
    CHECK(now.reason == "cancelled");
  }
  CHECK(named[1] == 0);
  CHECK(std::ranges::find(named, 1U) != named.end());
  CHECK(named.back() == 2);
}

TEST_CASE("ends that scatter too much to say whether they differ are not said to be alike") {
  auto search = CulpritSearch::create({}, {{.noise_sd = 0.02}}, 3).value();
  int pairs = 0;
  for (auto next = search.next(); std::holds_alternative<Measure>(next); next = search.next()) {
    const auto wanted = std::get<Measure>(next);
    REQUIRE(wanted.purpose == Purpose::verify_ends);
    std::vector<double> effects;
    for (int i = 0; i < wanted.pairs; ++i) effects.push_back(pairs++ % 2 == 0 ? 0.43 : -0.37);
    REQUIRE(search.apply(Measured{wanted.candidate, wanted.reference, {{0, effects}}}));
  }
  const auto answer = std::get<Answer>(search.next());
  CHECK(pairs >= 120);
  CHECK(answer.outcome == Outcome::not_told_apart);
  CHECK(answer.culprits.empty());
  CHECK_THAT(answer.reason, Catch::Contains("scatter too much to say whether they differ"));
}
