#pragma once

#include <string>
#include <vector>

namespace torchwatch::nightly {

/// Median; `values` must not be empty.
double median(std::vector<double> values);
/// 1.4826 median absolute deviation over the median; 0 for fewer than two values.
double relative_spread(const std::vector<double>& values);
/// The first line in which two texts of lines differ, as "a" -> "b".
std::string first_difference(const std::string& a, const std::string& b);

}  // namespace torchwatch::nightly
