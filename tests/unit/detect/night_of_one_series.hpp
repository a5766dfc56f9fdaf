#pragma once

#include <functional>

#include "torchwatch/detect/whole_night.hpp"

namespace torchwatch::detect {

/// Gives the next run's value, each time it is asked, as if nothing had changed.
using NextRun = std::function<double()>;

/// Screens and, where it must, confirms one series in blocks A B B A, with runs from the one and
/// the other; the candidate's runs take `slowdown` times as long (1: nothing changed).
NightOutcome judge_one_series(const NextRun& screening, const NextRun& confirming, double slowdown,
                              const Settings& settings);

}  // namespace torchwatch::detect
