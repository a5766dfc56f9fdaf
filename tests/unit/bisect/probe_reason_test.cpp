#include <catch2/catch.hpp>
#include <numeric>

#include "search_days.hpp"

using namespace torchwatch;
using namespace torchwatch::bisect;
using namespace torchwatch::test;

TEST_CASE("the reason of a probe is its worth by the rule that chose it") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    auto search = CulpritSearch::create({}, {noisy(0.02)}, 30).value();
    SimulatedRuns runs(noisy_day(30, 11, 1.1, 0.02), seed);
    int probes = 0;
    for (auto action = search.next(); std::holds_alternative<Measure>(action);
         action = search.next()) {
      const auto& measure = std::get<Measure>(action);
      const auto reason = search.reason_of(measure);
      CHECK(reason.has_value() == (measure.purpose == Purpose::probe));
      if (reason) {
        ++probes;
        const auto posterior = search.posterior();
        const auto end = posterior.begin() + static_cast<std::ptrdiff_t>(measure.candidate) + 1;
        CHECK(reason->chosen.bad == Approx(std::accumulate(posterior.begin(), end, 0.0)));
        CHECK(reason->chosen.bits > 0);
        CHECK(reason->chosen.bits <= 1);
        const auto value = [&](const ProbeWorth& worth) {
          return worth.chance * worth.bits / (worth.builds * reason->build_cost + worth.runs);
        };
        // The class that splits most evenly is not better, or it would have been chosen.
        if (reason->most_even) CHECK(value(*reason->most_even) <= value(reason->chosen) + 1e-12);
      }
      REQUIRE(search.apply(runs.carry_out(measure)));
    }
    CHECK(probes > 3);
    CHECK(search.spent().runs > 0);
  }
}
