#include "trimmed_mean.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace torchwatch::detect {
namespace {

/// By default the library calculates in long double, which takes three times as long.
using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using StudentsT = boost::math::students_t_distribution<double, InDouble>;
using Normal = boost::math::normal_distribution<double, InDouble>;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares_about_mean(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

}  // namespace

TrimmedMean trimmed_mean(std::span<const double> differences, double least_sd) {
  assert(differences.size() >= 2);
  std::vector<double> sorted(differences.begin(), differences.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t cut = sorted.size() / 10;
  const std::size_t kept = sorted.size() - 2 * cut;

  TrimmedMean result;
  result.mean = mean_of(std::span(sorted).subspan(cut, kept));
  result.degrees_of_freedom = static_cast<double>(kept - 1);
  std::fill_n(sorted.begin(), cut, sorted[cut]);
  std::fill_n(sorted.rbegin(), cut, sorted[cut + kept - 1]);
  const auto h = static_cast<double>(kept);
  const auto n = static_cast<double>(sorted.size());
  result.error =
      std::max(std::sqrt(squares_about_mean(sorted) / (h * (h - 1))), least_sd / std::sqrt(n));
  return result;
}

double one_sided_p(const TrimmedMean& trimmed) {
  const StudentsT distribution(trimmed.degrees_of_freedom);
  const double t = std::abs(trimmed.mean) / trimmed.error;
  return boost::math::cdf(boost::math::complement(distribution, t));
}

double t_beyond(double degrees_of_freedom, double tail) {
  const StudentsT distribution(degrees_of_freedom);
  return boost::math::quantile(boost::math::complement(distribution, tail));
}

double normal_beyond(double tail) {
  return boost::math::quantile(boost::math::complement(Normal(), tail));
}

}  // namespace torchwatch::detect
