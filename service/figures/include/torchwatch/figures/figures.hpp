#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::figures {

// Numbers for people, independent of the locale. Values and changes are rounded to the nearest,
// intervals outwards, spreads up and confidences down.

/// Formats a whole number with thousands separators: "1,329,152".
std::string grouped(std::int64_t number);

/// Formats a number to four digits, from 1,000 on a whole one: "0.0721", "1,329".
std::string number(double number);

/// Formats a size: "872 bytes", "61.5 MiB", "2.4 GiB".
std::string bytes(std::int64_t bytes);

/// Formats a value in the metric's unit (ns, bytes) for people: "2.104 ms", "4,096
/// bytes/iteration". "unknown" if it is not finite.
std::string value(Metric, double value);

/// Formats a difference of values with its sign: "+4,096 bytes/iteration".
std::string difference(Metric, double difference);

/// Formats a ratio as a change: "+15.2 %"; from three times on "x6.80".
std::string change(double ratio);

/// Returns whether an interval of ratios is known: too few pairs give 0 and infinity.
bool is_known(double low, double high);

/// Formats an interval of ratios, to stand behind a change: "[+13.1, +17.4]", in per cent; from
/// three times on "[x6.71, x6.89]". Empty if it is not known.
std::string interval(double low, double high);

/// Formats the same to stand alone: "[+13.1, +17.4] %".
std::string interval_with_unit(double low, double high);

/// Formats a relative spread: 0.0143 is "1.5 %". "unknown" if it is negative or not finite.
std::string spread(double spread);

/// Formats a confidence or a probability: 0.99731 is "99.7 %"; from 0.9995 on "more than 99.9 %",
/// never "100 %".
std::string confidence(double confidence);

/// Formats a share to three digits: 0.13911 is "13.9 %".
std::string share(double share);

/// Formats a number of things: "1 commit", "39 commits".
std::string count(std::size_t number, std::string_view noun);

/// Formats how long something took, to two units: "42 s", "11 min 4 s", "1 h 2 min".
std::string duration(double seconds);

/// Formats how long ago something was: "5 h 12 min ago", from two days on "3 days ago".
std::string age(double seconds);

/// Formats a range of durations that are only estimated: "about 3 to 5 min", "less than a minute".
std::string duration_range(double low_seconds, double high_seconds);

/// Returns the metric's name in a sentence: "time per iteration".
std::string_view name_of(Metric);

}  // namespace torchwatch::figures
