#pragma once

#include <functional>

#include "torchwatch/detect/series_judgement.hpp"

namespace torchwatch::detect {

/// Returns the value of the next run of unchanged code.
using NextRun = std::function<double()>;

/// Screens and, if suspected, confirms one series in blocks A B B A of the given runs; the
/// candidate's runs take `slowdown` times as long (1: nothing changed).
SeriesOutcome judge_simulated_series(const NextRun& screening, const NextRun& confirming,
                                     double slowdown, const Settings& settings);

}  // namespace torchwatch::detect
