#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torchwatch::drawing {

// Charts of block characters, for texts that can hold no picture.

/// Makes one block a value, the higher the larger, the least value the lowest block:
/// "▁▁▂▁█".
std::string strip(const std::vector<double>& values);

/// The same, on a scale from `least` to `greatest`, which several strips share.
std::string strip(const std::vector<double>& values, double least, double greatest);

/// As many values or `most`: the means of neighbours.
std::vector<double> thinned(const std::vector<double>& values, std::size_t most);

/// How often the samples fall into each of `columns` parts of [low, high]: a blank where none
/// does, the highest block where most do. Samples outside are left out.
std::string distribution(const std::vector<std::int64_t>& samples, double low, double high,
                         std::size_t columns);

}  // namespace torchwatch::drawing
