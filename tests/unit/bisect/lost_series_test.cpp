// Series that cannot be measured any more: at one class, at an end.
#include <catch2/catch.hpp>
#include <functional>

#include "search_days.hpp"

using namespace torchwatch;
using namespace torchwatch::bisect;
using namespace torchwatch::test;

namespace {

/// Nothing: the measurement succeeds.
using Fails = std::function<std::optional<SeriesLost>(const Measure&)>;

/// Searches a day some of whose measurements fail.
SimulatedSearch search_failing(const SimulatedDay& day, const std::vector<SearchSeries>& all_series,
                               const Fails& fails) {
  auto search = CulpritSearch::create({}, all_series, day.classes).value();
  SimulatedRuns runs(day, 1);
  SimulatedSearch done;
  for (auto action = search.next(); std::holds_alternative<Measure>(action);
       action = search.next()) {
    const auto& measure = std::get<Measure>(action);
    REQUIRE(done.measures.size() < 1'000);
    const auto lost = fails(measure);
    done.measures.push_back(measure);
    done.events.push_back(lost ? SearchEvent(*lost) : runs.carry_out(measure));
    const auto applied = search.apply(done.events.back());
    if (!applied) FAIL(applied.error().message);
  }
  done.answer = std::get<Answer>(search.next());
  return done;
}

/// Whether the measurement reads the series at that class.
bool reads(const Measure& measure, std::size_t series, std::size_t place) {
  const bool is_side = measure.candidate == place || measure.reference == Reference(place);
  return is_side && std::ranges::find(measure.series, series) != measure.series.end();
}

/// That series at that class fails from when the culprit is verified on.
Fails not_run_when_verified(std::size_t series, std::size_t place) {
  return [=, begun = false](const Measure& measure) mutable -> std::optional<SeriesLost> {
    begun = begun || measure.purpose == Purpose::verify_culprit;
    if (begun && reads(measure, series, place)) return SeriesLost{series, place};
    return std::nullopt;
  };
}

}  // namespace

TEST_CASE("a culprit that does not run another series is named by the one that it runs") {
  const SimulatedDay day{12, {{{5, 4096}}, {{5, 512}}}, {}, {}};
  const auto done = search_failing(day, {kExactBytes, kExactBytes}, not_run_when_verified(1, 5));
  REQUIRE(done.answer.culprits.size() == 1);
  CHECK(done.answer.culprits[0].classes == Classes{5});
  REQUIRE(done.answer.culprits[0].effects.size() == 1);
  CHECK(done.answer.culprits[0].effects[0].series == 0);
  CHECK(done.answer.outcome == Outcome::partly_found);  // whose the other change is nobody has seen
  CHECK(done.answer.skipped.empty());
}

TEST_CASE("a culprit's parent that does not run any more is not told from the culprit") {
  const auto done = search_failing(exact_day(12, 5), {kExactBytes}, not_run_when_verified(0, 4));
  REQUIRE(done.answer.culprits.size() == 1);
  CHECK(done.answer.culprits[0].classes == Classes{4, 5});
  CHECK(done.answer.culprits[0].parent == Reference(3));
  CHECK(done.answer.outcome == Outcome::found);
  CHECK(done.answer.skipped == Classes{4});
}

TEST_CASE("a culprit that does not run any more once it is verified stays named") {
  const SimulatedDay day{20, {{{5, 8192}, {14, 2048}}}, {}, {}};
  std::optional<std::size_t> gone;
  const auto done = search_failing(day, {kExactBytes}, [&](const Measure& measure) {
    const bool fails = measure.purpose == Purpose::look_for_more && measure.reference;
    if (fails) gone = measure.reference;
    return fails ? std::optional(SeriesLost{0, gone}) : std::nullopt;
  });
  CHECK(gone == std::size_t{5});
  REQUIRE(done.answer.culprits.size() == 1);
  CHECK(done.answer.culprits[0].classes == Classes{5});
  CHECK(done.answer.outcome == Outcome::partly_found);  // the other part was not looked for
  CHECK(done.answer.suspects.empty());
}

TEST_CASE("a series that fails at an end before it was read has not been shown to be unchanged") {
  const auto done =
      search_failing(exact_day(12, 5), {kExactBytes}, [](const Measure&) { return SeriesLost{0}; });
  CHECK(done.answer.outcome == Outcome::not_told_apart);
  CHECK(done.answer.reason == "What changed cannot be measured at the ends any more.");
  CHECK(done.answer.culprits.empty());
}

TEST_CASE("where one series did not reproduce and the other fails, the ends may differ") {
  const SimulatedDay day{12, {{}, {{5, 512}}}, {}, {}};
  const auto done = search_failing(day, {kExactBytes, kExactBytes}, [](const Measure& measure) {
    const bool fails = std::ranges::find(measure.series, 1U) != measure.series.end();
    return fails ? std::optional(SeriesLost{1}) : std::nullopt;
  });
  CHECK(done.answer.outcome == Outcome::not_told_apart);
}

TEST_CASE(
    "an end that fails while the search narrows the range leaves the suspects it had by then") {
  int probes = 0;
  const auto done = search_failing(exact_day(40, 5), {kExactBytes}, [&](const Measure& measure) {
    probes += measure.purpose == Purpose::probe ? 1 : 0;
    return probes > 2 ? std::optional(SeriesLost{0}) : std::nullopt;
  });
  CHECK(done.answer.outcome == Outcome::not_told_apart);
  CHECK(done.answer.suspects.size() >= 2);
  CHECK(done.answer.suspects.size() <= 12);
  CHECK(std::ranges::count(done.answer.suspects, 5U) == 1);
}

TEST_CASE("an end that fails after a culprit was found takes nothing back") {
  const SimulatedDay day{20, {{{5, 8192}, {14, 2048}}}, {}, {}};
  const auto done = search_failing(day, {kExactBytes}, [](const Measure& measure) {
    const bool fails = measure.purpose == Purpose::look_for_more;
    return fails ? std::optional(SeriesLost{0}) : std::nullopt;
  });
  REQUIRE(done.answer.culprits.size() == 1);
  CHECK(done.answer.culprits[0].classes == Classes{5});
  CHECK(done.answer.culprits[0].effects.at(0).shows);
  CHECK(done.answer.outcome == Outcome::partly_found);
}

TEST_CASE("a series is lost at a class between the ends alone, until its build is set aside") {
  auto search = CulpritSearch::create({}, {kExactBytes}, 8).value();
  CHECK(search.apply(SeriesLost{0, 7}).error().code == ErrorCode::invalid);
  CHECK(search.apply(SeriesLost{0, 8}).error().code == ErrorCode::invalid);
  CHECK(search.apply(SeriesLost{1, 3}).error().code == ErrorCode::invalid);
  CHECK_FALSE(search.is_measured(3));
  for (std::size_t place = 0; place < 7; ++place) REQUIRE(search.apply(SeriesLost{0, place}));
  REQUIRE(search.apply(SetAside{4}));
  SimulatedRuns runs(exact_day(8, 4), 1);
  const auto done = run_to_end(search, runs);
  CHECK(search.is_measured(4));
  CHECK(done.answer.culprits.at(0).classes == Classes{0, 1, 2, 3, 4});
  CHECK(done.answer.skipped == Classes{0, 1, 2, 3, 5, 6});
}
