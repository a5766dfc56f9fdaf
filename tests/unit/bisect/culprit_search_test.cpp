#include "torchwatch/bisect/culprit_search.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "search_days.hpp"

using namespace torchwatch;
using namespace torchwatch::bisect;
using namespace torchwatch::test;

namespace {

int ceil_log2(std::size_t n) {
  return static_cast<int>(std::ceil(std::log2(double(n))));
}

}  // namespace

TEST_CASE("an exact culprit is found at every place in about log2 n builds of one pair each") {
  for (std::size_t classes = 1; classes <= 40; ++classes) {
    for (std::size_t culprit = 0; culprit < classes; ++culprit) {
      const auto done = search_through(exact_day(classes, culprit), {kExactBytes});
      CAPTURE(classes, culprit);
      REQUIRE(done.answer.outcome == Outcome::found);
      REQUIRE(done.answer.culprits.size() == 1);
      REQUIRE(done.answer.culprits[0].classes == Classes{culprit});
      REQUIRE(done.answer.culprits[0].confidence >= 0.99);
      REQUIRE(done.answer.builds <= ceil_log2(classes) + 1);
      for (const auto& measure : done.measures) {
        if (measure.purpose == Purpose::probe) REQUIRE(measure.pairs == 1);
      }
    }
  }
}

TEST_CASE("an exact peak is bisected plainly: few builds, one run each, and the culprit in pairs") {
  constexpr double kMiB = 1 << 20;
  // +2.5 % of 100 MiB, searched from half the exact threshold on, beside a series that is silent.
  const SearchSeries peak{.noise_sd = 0, .noise_weight = 4, .minimum_effect = 1 * kMiB};
  constexpr std::size_t kClasses = 100;
  int builds = 0;
  int runs = 0;
  for (std::size_t culprit = 0; culprit < kClasses; ++culprit) {
    const SimulatedDay day{kClasses, {{{culprit, 2.5 * kMiB}}}, {}, {}};
    const auto done = search_through(day, {peak});
    CAPTURE(culprit);
    REQUIRE(done.answer.outcome == Outcome::found);
    REQUIRE(done.answer.culprits.size() == 1);
    REQUIRE(done.answer.culprits[0].classes == Classes{culprit});
    REQUIRE(done.answer.culprits[0].effects.at(0).effect == 2.5 * kMiB);
    REQUIRE(done.answer.builds <= ceil_log2(kClasses) + 1);
    for (const auto& measure : done.measures) {
      if (measure.purpose == Purpose::probe) REQUIRE(measure.alone);
      REQUIRE(measure.pairs == (measure.purpose == Purpose::probe ? 1 : 2));
    }
    builds += done.answer.builds;
    runs += done.answer.runs;
  }
  REQUIRE(builds <= 8 * static_cast<int>(kClasses));
  REQUIRE(runs <= 16 * static_cast<int>(kClasses));
}

TEST_CASE("a smaller exact change than what is searched has no culprit") {
  const SearchSeries peak{.noise_sd = 0, .noise_weight = 4, .minimum_effect = 1 << 20};
  const auto done = search_through({40, {{{7, (1 << 20) - 1.0}}}, {}, {}}, {peak});
  REQUIRE(done.answer.outcome == Outcome::did_not_reproduce);
  REQUIRE(done.answer.builds == 0);
}

TEST_CASE("an exact effect is stated exactly") {
  const auto done = search_through(exact_day(20, 7), {kExactBytes});
  const Effect& effect = done.answer.culprits.at(0).effects.at(0);
  REQUIRE(effect.effect == 4096);
  REQUIRE(effect.low == 4096);
  REQUIRE(effect.high == 4096);
  REQUIRE(effect.shows);
  REQUIRE(done.answer.culprits[0].parent == Reference(6));
}

TEST_CASE("a culprit in noise is found at every place, and nobody else is blamed") {
  for (const double sd : {0.02, 0.04}) {
    for (std::size_t culprit = 0; culprit < 24; ++culprit) {
      const auto done = search_through(noisy_day(24, culprit, 1.07, sd), {noisy(sd)}, culprit + 1);
      CAPTURE(sd, culprit);
      REQUIRE(done.answer.outcome == Outcome::found);
      REQUIRE(done.answer.culprits.at(0).classes == Classes{culprit});
      REQUIRE(done.answer.culprits.size() == 1);
      REQUIRE(done.answer.culprits[0].parent ==
              (culprit == 0 ? Reference() : Reference(culprit - 1)));
    }
  }
}

TEST_CASE("ends and culprit are measured in pairs, classes between them alone") {
  for (std::size_t culprit = 0; culprit < 24; culprit += 5) {
    const auto done = search_through(noisy_day(24, culprit, 1.10, 0.02), {noisy(0.02)}, culprit);
    CAPTURE(culprit);
    REQUIRE(done.answer.culprits.at(0).classes == Classes{culprit});
    int runs = 0;
    for (const auto& measure : done.measures) {
      CAPTURE(measure.candidate);
      REQUIRE(measure.alone == (measure.purpose == Purpose::probe));
      if (measure.alone) REQUIRE_FALSE(measure.reference);
      runs += (measure.alone ? 1 : 2) * measure.pairs;
    }
    REQUIRE(done.answer.runs == runs);
  }
}

TEST_CASE("a search that does not know what its ends read continues in pairs") {
  SimulatedRuns runs(noisy_day(24, 9, 1.10, 0.02), 3);
  auto search = CulpritSearch::create({}, {noisy(0.02)}, 24).value();
  Action action = search.next();
  for (; std::holds_alternative<Measure>(action); action = search.next()) {
    REQUIRE_FALSE(std::get<Measure>(action).alone);
    auto event = runs.carry_out(std::get<Measure>(action));
    if (auto* measured = std::get_if<Measured>(&event)) measured->references.clear();
    REQUIRE(search.apply(event).has_value());
  }
  REQUIRE(std::get<Answer>(action).culprits.at(0).classes == Classes{9});
}

TEST_CASE("a search whose machine has changed continues in pairs with what it knows") {
  SimulatedRuns runs(noisy_day(24, 9, 1.10, 0.02), 3);
  auto search = CulpritSearch::create({}, {noisy(0.02)}, 24).value();
  int alone = 0;
  Action action = search.next();
  for (; std::holds_alternative<Measure>(action); action = search.next()) {
    const auto& measure = std::get<Measure>(action);
    alone += measure.alone ? 1 : 0;
    if (alone == 3) {
      REQUIRE(search.apply(LevelLost{}).has_value());
      alone = 100;
      continue;
    }
    REQUIRE(alone != 101);
    REQUIRE(search.apply(runs.carry_out(measure)).has_value());
  }
  REQUIRE(alone == 100);
  REQUIRE(std::get<Answer>(action).culprits.at(0).classes == Classes{9});
}

TEST_CASE("a level that drifts under runs alone has nobody blamed for it") {
  int found = 0;
  for (std::size_t culprit = 0; culprit < 24; ++culprit) {
    SimulatedDay day = noisy_day(24, culprit, 1.08, 0.02);
    day.noise.drift_sd = 0.02;
    const auto done = search_through(day, {noisy(0.02)}, culprit + 1);
    CAPTURE(culprit);
    for (const auto& blamed : done.answer.culprits) REQUIRE(blamed.classes == Classes{culprit});
    found += done.answer.outcome == Outcome::found ? 1 : 0;
  }
  REQUIRE(found >= 22);
}

TEST_CASE("runs alone that have misled the search count no more") {
  // From the ends on everything reads as the bad end does, measured alone.
  SimulatedRuns runs(noisy_day(24, 17, 1.08, 0.02), 5);
  auto search = CulpritSearch::create({}, {noisy(0.02)}, 24).value();
  bool rejected = false;
  Action action = search.next();
  for (; std::holds_alternative<Measure>(action); action = search.next()) {
    const auto& measure = std::get<Measure>(action);
    rejected = rejected || (measure.purpose == Purpose::verify_culprit && measure.candidate < 17);
    if (rejected && measure.purpose == Purpose::probe) REQUIRE_FALSE(measure.alone);
    auto event = runs.carry_out(measure);
    if (auto* alone = std::get_if<MeasuredAlone>(&event)) alone->readings[0][0] += std::log(1.08);
    REQUIRE(search.apply(event).has_value());
  }
  REQUIRE(rejected);
  REQUIRE(std::get<Answer>(action).culprits.at(0).classes == Classes{17});
}

TEST_CASE("as much noise as effect makes a search longer or empty, never wrong") {
  int found = 0;
  for (std::size_t culprit = 0; culprit < 16; ++culprit) {
    const auto done = search_through(noisy_day(16, culprit, 1.07, 0.06), {noisy(0.06)}, culprit);
    for (const auto& blamed : done.answer.culprits) REQUIRE(blamed.classes == Classes{culprit});
    found += static_cast<int>(done.answer.culprits.size());
  }
  REQUIRE(found >= 12);
}

TEST_CASE("a wrong expectation of the noise is corrected by what is measured") {
  for (std::size_t culprit = 0; culprit < 16; ++culprit) {
    const auto done = search_through(noisy_day(16, culprit, 1.10, 0.04), {noisy(0.01)}, culprit);
    CAPTURE(culprit);
    for (const auto& blamed : done.answer.culprits) REQUIRE(blamed.classes == Classes{culprit});
  }
}

TEST_CASE("ends that do not differ are an answer, and nothing is built for it") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimulatedDay day = noisy_day(30, 0, 1.0, 0.03);
    const auto done = search_through(day, {noisy(0.03)}, seed);
    REQUIRE(done.answer.outcome == Outcome::did_not_reproduce);
    REQUIRE(done.answer.culprits.empty());
    REQUIRE(done.answer.builds == 0);
    REQUIRE_FALSE(done.answer.ends.at(0).shows);
    REQUIRE_FALSE(done.answer.reason.empty());
  }
}

TEST_CASE("a range without a class is answered at once") {
  const auto done = search_through({0, {{}}, {}, {}}, {kExactBytes});
  REQUIRE(done.answer.outcome == Outcome::nothing_to_search);
  REQUIRE(done.measures.empty());
}

TEST_CASE("a stretch that does not build over the culprit is answered as a whole") {
  // 3, 4 and 5 do not build: a culprit among 3..6 cannot be told from its neighbours.
  for (std::size_t culprit = 0; culprit < 12; ++culprit) {
    SimulatedDay day = exact_day(12, culprit);
    day.unbuildable = {3, 4, 5};
    const auto done = search_through(day, {kExactBytes});
    CAPTURE(culprit);
    REQUIRE(done.answer.outcome == Outcome::found);
    const bool is_hidden = culprit >= 3 && culprit <= 6;
    REQUIRE(done.answer.culprits.at(0).classes ==
            (is_hidden ? Classes{3, 4, 5, 6} : Classes{culprit}));
    for (const auto skipped : done.answer.skipped) REQUIRE(day.unbuildable.contains(skipped));
  }
}

TEST_CASE("everything but the ends may fail to build") {
  SimulatedDay day = exact_day(9, 4);
  for (std::size_t i = 0; i + 1 < day.classes; ++i) day.unbuildable.insert(i);
  const auto done = search_through(day, {kExactBytes});
  REQUIRE(done.answer.culprits.at(0).classes == Classes{0, 1, 2, 3, 4, 5, 6, 7, 8});
  REQUIRE(done.answer.culprits[0].parent == Reference());
  REQUIRE(done.answer.builds == 0);
}

TEST_CASE("with a third of the classes broken the smallest set holds the culprit, in noise too") {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 40; ++trial) {
    const std::size_t classes = 5 + random() % 36;
    const std::size_t culprit = random() % classes;
    SimulatedDay day = noisy_day(classes, culprit, 1.10, 0.025);
    while (10 * day.unbuildable.size() < 3 * (classes - 1)) {
      const std::size_t start = random() % classes;
      for (std::size_t i = start; i < std::min(start + 3, classes - 1); ++i) {
        day.unbuildable.insert(i);
      }
    }
    const auto done = search_through(day, {noisy(0.025)}, random());
    CAPTURE(trial, classes, culprit);
    REQUIRE(done.answer.culprits.size() == 1);
    const Classes& blamed = done.answer.culprits[0].classes;
    REQUIRE(std::count(blamed.begin(), blamed.end(), culprit) == 1);
    for (const auto one : blamed) {  // all but the last of the set are broken
      if (one != blamed.back()) REQUIRE(day.unbuildable.contains(one));
    }
  }
}

TEST_CASE("two culprits of one exact series are both found, wherever they are") {
  for (std::size_t first = 0; first < 12; ++first) {
    for (std::size_t second = first + 1; second < 12; ++second) {
      for (const auto& [small, large] :
           {std::pair{1000.0, 3000.0}, std::pair{2000.0, 2000.0}, std::pair{3000.0, 1000.0}}) {
        const auto done =
            search_through({12, {{{first, small}, {second, large}}}, {}, {}}, {kExactBytes});
        CAPTURE(first, second, small);
        REQUIRE(done.answer.outcome == Outcome::found);
        REQUIRE(done.answer.culprits.size() == 2);
        const auto& larger = done.answer.culprits[0];
        const auto& smaller = done.answer.culprits[1];
        REQUIRE(larger.effects.at(0).effect >= smaller.effects.at(0).effect);
        REQUIRE(std::set<std::size_t>{larger.classes.at(0), smaller.classes.at(0)} ==
                std::set<std::size_t>{first, second});
      }
    }
  }
}

TEST_CASE("two culprits in noise are both found and nobody else is blamed") {
  for (std::size_t first = 0; first < 14; first += 3) {
    for (std::size_t second = first + 1; second < 16; second += 4) {
      SimulatedDay day = noisy_day(16, first, 1.08, 0.02);
      day.steps[0][second] = std::log(1.08);
      const auto done = search_through(day, {noisy(0.02)}, first * 100 + second);
      CAPTURE(first, second);
      std::set<std::size_t> blamed;
      for (const auto& culprit : done.answer.culprits) blamed.insert(culprit.classes.at(0));
      REQUIRE(blamed == std::set<std::size_t>{first, second});
    }
  }
}

TEST_CASE("a regression and an improvement in one range: only the regression is blamed") {
  const auto done = search_through({16, {{{4, 5000}, {11, -2000}}}, {}, {}}, {kExactBytes});
  REQUIRE(done.answer.culprits.size() == 1);
  REQUIRE(done.answer.culprits[0].classes == Classes{4});
}

TEST_CASE("series with one culprit share its builds, series with their own get their own") {
  const SimulatedNoise noise{0.015, 0.02, 0.12};
  for (const auto& [time, memory] : {std::pair{9, 9}, std::pair{3, 15}, std::pair{15, 3}}) {
    SimulatedDay day{20, {}, {}, noise};
    day.steps = {{{std::size_t(time), std::log(1.15)}}, {{std::size_t(memory), 10.0}}};
    const auto done = search_through(day, {noisy(0.021), {0.021, 4, 1}}, 5);
    CAPTURE(time, memory);
    REQUIRE(done.answer.outcome == Outcome::found);
    std::map<std::size_t, std::set<std::size_t>> shown;  // culprit: series in which it shows
    for (const auto& culprit : done.answer.culprits) {
      for (const auto& effect : culprit.effects) {
        if (effect.shows) shown[culprit.classes.at(0)].insert(effect.series);
      }
    }
    std::map<std::size_t, std::set<std::size_t>> truth;
    truth[std::size_t(time)].insert(0);
    truth[std::size_t(memory)].insert(1);
    REQUIRE(shown == truth);
    if (time == memory) REQUIRE(done.answer.builds <= 7);
  }
}

TEST_CASE("a series that does not reproduce is left out and the others continue") {
  SimulatedDay day{10, {{}, {{6, 512}}}, {}, {}};
  const auto done = search_through(day, {kExactBytes, kExactBytes});
  REQUIRE(done.answer.culprits.at(0).classes == Classes{6});
  REQUIRE(done.answer.culprits[0].effects.size() == 1);
  REQUIRE(done.answer.ends.size() == 2);
  REQUIRE_FALSE(done.answer.ends[0].shows);
  REQUIRE(done.answer.ends[1].shows);
}

TEST_CASE("a lost series is not asked for any more") {
  auto search = CulpritSearch::create({}, {kExactBytes, kExactBytes}, 10).value();
  REQUIRE(search.apply(SeriesLost{0}).has_value());
  SimulatedRuns runs({10, {{}, {{6, 512}}}, {}, {}}, 1);
  const auto done = run_to_end(search, runs);
  for (const auto& measure : done.measures) REQUIRE(measure.series == Classes{1});
  REQUIRE(done.answer.culprits.at(0).classes == Classes{6});
}

TEST_CASE("a search is the replay of its events at every point") {
  SimulatedDay day = noisy_day(30, 17, 1.08, 0.03);
  day.unbuildable = {8, 15, 16};
  auto search = CulpritSearch::create({}, {noisy(0.03)}, 30).value();
  SimulatedRuns runs(day, 3);
  std::vector<SearchEvent> events;
  for (Action action = search.next(); std::holds_alternative<Measure>(action);
       action = search.next()) {
    const auto& measure = std::get<Measure>(action);
    auto replayed = CulpritSearch::create({}, {noisy(0.03)}, 30).value();
    for (const auto& event : events) REQUIRE(replayed.apply(event).has_value());
    REQUIRE(std::get<Measure>(replayed.next()) == measure);
    REQUIRE(replayed.posterior() == search.posterior());
    events.push_back(runs.carry_out(measure));
    REQUIRE(search.apply(events.back()).has_value());
  }
  REQUIRE(std::get<Answer>(search.next()).culprits.at(0).classes == Classes{15, 16, 17});
}

TEST_CASE("a copy goes its own way") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 8).value();
  auto copy = search;
  REQUIRE(copy.apply(Measured{7, {}, {{0, {100.0, 100.0}}}}).has_value());
  REQUIRE(std::get<Measure>(search.next()).purpose == Purpose::verify_ends);
  REQUIRE(std::get<Measure>(copy.next()).purpose == Purpose::probe);
}

TEST_CASE("the posterior is a probability while a culprit is looked for") {
  auto search = CulpritSearch::create({}, {noisy(0.03)}, 20).value();
  REQUIRE(search.posterior() == std::vector<double>(20, 0.0));
  SimulatedRuns runs(noisy_day(20, 5, 1.1, 0.03), 2);
  for (Action action = search.next(); std::holds_alternative<Measure>(action);
       action = search.next()) {
    const auto& measure = std::get<Measure>(action);
    if (measure.purpose == Purpose::probe) {
      const auto posterior = search.posterior();
      REQUIRE(std::accumulate(posterior.begin(), posterior.end(), 0.0) == Approx(1));
    }
    REQUIRE(search.apply(runs.carry_out(measure)).has_value());
  }
}

TEST_CASE("what has been read is said with its interval, of pairs and of runs alone") {
  auto search = CulpritSearch::create({}, {noisy(0.02)}, 8).value();
  const Measure ends{.candidate = 7, .reference = {}, .series = {0}};
  REQUIRE(search.read(ends).empty());
  REQUIRE(search.apply(Measured{7, {}, {{0, {0.10, 0.11, 0.09}}}, {{0, {5.0, 5.01, 4.99}}}}));
  const auto pairs = search.read(ends);
  REQUIRE(pairs.size() == 1);
  REQUIRE(pairs[0].pairs == 3);
  REQUIRE(pairs[0].effect == Approx(0.1).margin(0.005));
  REQUIRE(pairs[0].low < 0.1);
  REQUIRE(pairs[0].high > 0.1);
  const Measure alone{.candidate = 3, .reference = {}, .series = {0}, .alone = true};
  REQUIRE(search.read(alone).empty());
  REQUIRE(search.apply(MeasuredAlone{3, {{0, {5.11, 5.09}}}}));
  const auto runs = search.read(alone);
  REQUIRE(runs.size() == 1);
  REQUIRE(runs[0].pairs == 2);
  REQUIRE(runs[0].effect == Approx(0.1).margin(0.01));
}
