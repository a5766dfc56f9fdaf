#include "series_night.hpp"

#include <algorithm>
#include <utility>

namespace torchwatch::benchmarks {
namespace {

std::vector<double> medians_of_first_ten(const test::RecordedNight& night) {
  constexpr std::ptrdiff_t kIterations = 10;
  std::vector<double> medians;
  for (const auto& samples : night) {
    const auto count = std::min(kIterations, std::ssize(samples));
    medians.push_back(test::median({samples.begin(), samples.begin() + count}));
  }
  return medians;
}

std::size_t any_below(std::size_t end, Random& random) {
  return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
}

}  // namespace

Series::Series(const test::RecordedSeries& recorded, std::size_t place_in_recording)
    : workload(recorded.workload), place(place_in_recording) {
  for (const auto& night : recorded.nights) {
    const auto medians = test::process_medians(night);
    runs.insert(runs.end(), medians.begin(), medians.end());
    night_of_run.insert(night_of_run.end(), medians.size(), nights.size());
    night_values.push_back(test::median(medians));
    nights.push_back(medians);
    medians_of_ten.push_back(medians_of_first_ten(night));
  }
}

std::set<std::size_t> SeriesNight::compared() const {
  return {nights[kJudged - 1], nights[kJudged]};
}

double SeriesNight::value(std::size_t place) const {
  return series->night_values[nights[place]] * factor(place);
}

SeriesNight recorded_night(const Series& series, std::size_t night, double slowdown) {
  const std::size_t recorded = series.nights.size();
  SeriesNight result{&series, {}, slowdown};
  for (std::size_t place = 0; place <= kNightsBefore + kNightsAfter; ++place) {
    result.nights.push_back((night + place + kNightsBefore * (recorded - 1)) % recorded);
  }
  return result;
}

SeriesNight drawn_night(const Series& series, double slowdown, Random& random) {
  SeriesNight result{&series, {}, slowdown};
  for (std::size_t place = 0; place <= kNightsBefore + kNightsAfter; ++place) {
    result.nights.push_back(any_below(series.nights.size(), random));
  }
  return result;
}

RunsElsewhere::RunsElsewhere(const Series& series, std::set<std::size_t> without_nights,
                             Random& random)
    : series_(series), without_(std::move(without_nights)), random_(random) {
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
    if (!without_.contains(series_.night_of_run[at])) return series_.runs[at];
  }
}

RunsOfNight::RunsOfNight(const SeriesNight& night, Random& random)
    : elsewhere_(*night.series, night.compared(), random) {
  for (const std::size_t place : {SeriesNight::kJudged - 1, SeriesNight::kJudged}) {
    const auto& medians = night.series->nights[night.nights[place]];
    runs_.insert(runs_.end(), medians.begin(), medians.end());
  }
  const auto first = static_cast<std::ptrdiff_t>(any_below(runs_.size(), random));
  std::rotate(runs_.begin(), runs_.begin() + first, runs_.end());
}

double RunsOfNight::operator()() {
  return next_ < runs_.size() ? runs_[next_++] : elsewhere_();
}

}  // namespace torchwatch::benchmarks
