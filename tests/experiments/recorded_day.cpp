#include "recorded_day.hpp"

#include <algorithm>
#include <cmath>

#include "recorded_noise.hpp"
#include "torchwatch/records/statistics.hpp"

namespace torchwatch::experiments {
namespace {

constexpr std::size_t kStretchMax = 4;

}  // namespace

double Day::slowdown(Place place) const {
  double slowdown = 0;
  for (const auto& [from, step] : steps) {
    if (place >= static_cast<Place>(from)) slowdown += step;
  }
  return slowdown;
}

std::string Day::library(Place place) const {
  Place changes = 0;
  for (Place at = 0; at <= place; ++at)
    changes += idle.contains(static_cast<std::size_t>(at)) ? 0 : 1;
  return std::to_string(changes);
}

Day draw_day(const DayShape& shape, std::mt19937_64& random) {
  Day day{shape.commits, {}, {}};
  const auto any = [&](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
  };
  while (day.steps.size() < static_cast<std::size_t>(shape.culprits)) {
    day.steps[any(day.commits)] = shape.step;
  }
  const double wanted = shape.unbuildable * static_cast<double>(day.commits);
  while (static_cast<double>(day.unbuildable.size()) < wanted) {
    const std::size_t start = any(day.commits);
    const std::size_t end = std::min(start + 1 + any(kStretchMax), day.commits - 1);
    for (std::size_t commit = start; commit < end; ++commit) day.unbuildable.insert(commit);
  }
  return day;
}

std::vector<std::size_t> smallest_set(const Day& day, std::size_t culprit) {
  std::size_t first = culprit;
  while (first > 0 && day.unbuildable.contains(first - 1)) --first;
  std::size_t last = culprit;
  while (day.unbuildable.contains(last)) ++last;
  std::vector<std::size_t> commits;
  for (std::size_t commit = first; commit <= last; ++commit) commits.push_back(commit);
  return commits;
}

std::vector<double> log_times_of(const std::vector<double>& process_medians_ns) {
  const double centre = median(process_medians_ns);
  std::vector<double> log_times;
  for (const double ns : process_medians_ns) log_times.push_back(std::log(ns / centre));
  return log_times;
}

bool DayBuilds::is_tried(Place place) const {
  return place == kGoodEnd || place == day_.last() || tried_.contains(place);
}

bool DayBuilds::build(Place place) {
  return !build_at_once({place}).empty();
}

std::vector<Place> DayBuilds::build_at_once(const std::vector<Place>& places) {
  std::vector<Place> built;
  bool is_waited_for = false;
  for (const Place place : places) {
    if (!is_tried(place)) is_waited_for = tried_.insert(place).second;
    const bool builds =
        place == kGoodEnd || !day_.unbuildable.contains(static_cast<std::size_t>(place));
    if (builds) built.push_back(place);
  }
  rounds_ += is_waited_for ? 1 : 0;
  return built;
}

DayRuns::DayRuns(const Day& day, const std::vector<double>& log_times, std::size_t start)
    : DayBuilds(day), log_times_(log_times), next_(start % log_times.size()) {}

double DayRuns::run(Place place) {
  const double log_time = log_times_[next_];
  next_ = (next_ + 1) % log_times_.size();
  ++runs_;
  return log_time + day().slowdown(place);
}

std::vector<double> DayRuns::run(Place place, int times) {
  std::vector<double> log_times;
  for (int i = 0; i < times; ++i) log_times.push_back(run(place));
  return log_times;
}

}  // namespace torchwatch::experiments
