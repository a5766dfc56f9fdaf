#pragma once

#include <string>
#include <string_view>

#include "torchwatch/report/facts.hpp"

namespace torchwatch::report {

/// 4096 -> "4,096".
std::string with_thousands(double whole_number);

/// Whether the ratio's interval is known at all (too few pairs give 0 and infinity).
bool has_interval(const EffectFacts&);

/// "[+13.1, +17.4]", in per cent, rounded outwards: the printed interval is never narrower than the
/// real one. Empty where there is none.
std::string human_interval(const EffectFacts&);

/// 0.0143 -> "1.4 %", rounded up.
std::string human_spread(double spread);

/// 0.99731 -> "99.7 %", rounded down; from 0.9995 "more than 99.9 %": never "100 %".
std::string human_confidence(double confidence);

/// 0.13911 -> "13.9 %", to three digits.
std::string human_share(double share);

/// Whether the interval (where there is one) lies wholly above "no change".
bool is_sure_increase(const EffectFacts&);

/// Metrics whose interval is the range over all runs and not one of confidence.
bool is_memory(Metric);

/// "time per iteration", "memory kept per iteration".
std::string_view metric_for_people(Metric);

/// Order of severity for people: leaks by bytes among leaks, ratios among ratios.
bool is_larger(const EffectFacts& left, const EffectFacts& right);

}  // namespace torchwatch::report
