#include "series_comparison.hpp"

#include <algorithm>
#include <utility>

#include "torchwatch/records/statistics.hpp"

namespace torchwatch::experiments {
namespace {

std::vector<double> medians_of_first_ten(const test::RecordedComparison& comparison) {
  constexpr std::ptrdiff_t kIterations = 10;
  std::vector<double> medians;
  for (const auto& samples : comparison) {
    const auto count = std::min(kIterations, std::ssize(samples));
    medians.push_back(median(std::vector(samples.begin(), samples.begin() + count)));
  }
  return medians;
}

std::size_t any_below(std::size_t end, Random& random) {
  return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
}

}  // namespace

Series::Series(const test::RecordedSeries& recorded, std::size_t place_in_recording)
    : workload(recorded.workload), place(place_in_recording) {
  for (const auto& comparison : recorded.comparisons) {
    const auto medians = test::process_medians(comparison);
    runs.insert(runs.end(), medians.begin(), medians.end());
    comparison_of_run.insert(comparison_of_run.end(), medians.size(), comparisons.size());
    comparison_values.push_back(median(medians));
    comparisons.push_back(medians);
    medians_of_ten.push_back(medians_of_first_ten(comparison));
  }
}

std::set<std::size_t> SeriesComparison::compared() const {
  return {comparisons[kJudged - 1], comparisons[kJudged]};
}

double SeriesComparison::value(std::size_t place) const {
  return series->comparison_values[comparisons[place]] * factor(place);
}

SeriesComparison recorded_comparison(const Series& series, std::size_t comparison,
                                     double slowdown) {
  const std::size_t recorded = series.comparisons.size();
  SeriesComparison result{&series, {}, slowdown};
  for (std::size_t place = 0; place <= kComparisonsBefore + kComparisonsAfter; ++place) {
    result.comparisons.push_back((comparison + place + kComparisonsBefore * (recorded - 1)) %
                                 recorded);
  }
  return result;
}

SeriesComparison drawn_comparison(const Series& series, double slowdown, Random& random) {
  SeriesComparison result{&series, {}, slowdown};
  for (std::size_t place = 0; place <= kComparisonsBefore + kComparisonsAfter; ++place) {
    result.comparisons.push_back(any_below(series.comparisons.size(), random));
  }
  return result;
}

RunsElsewhere::RunsElsewhere(const Series& series, std::set<std::size_t> without_comparisons,
                             Random& random)
    : series_(series), without_(std::move(without_comparisons)), random_(random) {
  start_anew();
}

void RunsElsewhere::start_anew() {
  const auto starts = series_.runs.size() / series_.alive_at_once;
  next_ = any_below(starts, random_) * series_.alive_at_once;
  passed_ = 0;
}

double RunsElsewhere::operator()() {
  while (true) {
    if (passed_ == series_.runs.size()) start_anew();
    const std::size_t at = next_;
    next_ = (next_ + 1) % series_.runs.size();
    ++passed_;
    if (!without_.contains(series_.comparison_of_run[at])) return series_.runs[at];
  }
}

RunsOfComparison::RunsOfComparison(const SeriesComparison& comparison, Random& random)
    : elsewhere_(*comparison.series, comparison.compared(), random) {
  for (const std::size_t place : {SeriesComparison::kJudged - 1, SeriesComparison::kJudged}) {
    const auto& medians = comparison.series->comparisons[comparison.comparisons[place]];
    runs_.insert(runs_.end(), medians.begin(), medians.end());
  }
  const auto first = static_cast<std::ptrdiff_t>(any_below(runs_.size(), random));
  std::rotate(runs_.begin(), runs_.begin() + first, runs_.end());
}

double RunsOfComparison::operator()() {
  return next_ < runs_.size() ? runs_[next_++] : elsewhere_();
}

}  // namespace torchwatch::experiments
