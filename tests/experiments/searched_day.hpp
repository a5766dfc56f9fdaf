#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "recorded_day.hpp"
#include "search_score.hpp"
#include "torchwatch/bisect/culprit_search.hpp"

namespace torchwatch::experiments {

/// Measures what is built, as the search ordered it.
using CarryOut = std::function<bisect::SearchEvent(const bisect::Measure&)>;

/// The place that a measurement is made against.
Place place_of(const bisect::Reference&);

/// Measures by recorded runs as the service does it: every other pair begins with the candidate.
bisect::SearchEvent carry_out(const bisect::Measure&, DayRuns&);

/// Lets our search name the culprits of a day in one series. What the result costs in builds,
/// rounds and processor time is in it; its runs are the caller's to count.
/// `builders`: builds that are made at once. `weights`: of the commits; empty: all alike.
DayResult search_day(const bisect::SearchSettings&, const bisect::SearchSeries&,
                     std::size_t builders, DayBuilds&, const CarryOut&,
                     const std::vector<double>& weights = {});

/// Processor time of this process.
double cpu_ms();

}  // namespace torchwatch::experiments
