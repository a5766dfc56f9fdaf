#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torchwatch::report {

// Charts of block characters, for texts that can hold no picture.

/// Makes one block a value, the higher the larger, the least value the lowest block:
/// "▁▁▂▁█".
std::string strip(const std::vector<double>& values);

/// How often the samples fall into each of `columns` parts of [low, high]: a blank where none
/// does, the highest block where most do. Samples outside are left out.
std::string distribution(const std::vector<std::int64_t>& samples, double low, double high,
                         std::size_t columns);

}  // namespace torchwatch::report
