#pragma once

#include <string>
#include <vector>

#include "torchwatch/report/facts.hpp"

namespace torchwatch::report {

/// The effects, largest first.
std::vector<EffectFacts> by_size(std::vector<EffectFacts> effects);

/// What got worse, how much and how sure: the first paragraph of an issue.
std::string summary(const IncidentFacts&);

/// The series as a table: values of both builds, change, interval, spread, runs.
std::string effects_table(const std::vector<EffectFacts>&, const std::string& left,
                          const std::string& right, double confidence);

}  // namespace torchwatch::report
