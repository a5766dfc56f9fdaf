#include "search_record.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace torchwatch::bisect {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

Status check(const SeriesLost& gone, std::size_t series_count, Place last) {
  if (gone.series >= series_count) {
    return fail(ErrorCode::invalid, "search has no series " + std::to_string(gone.series));
  }
  if (!gone.candidate || std::cmp_less(*gone.candidate, last)) return {};
  return fail(ErrorCode::invalid,
              "a series can be lost at a class before the bad end, not at class " +
                  std::to_string(*gone.candidate));
}

Status check(const Weighed& weighed, std::size_t classes, int runs) {
  if (runs > 0) {
    return fail(ErrorCode::conflict, "classes can only be weighed before the first measurement");
  }
  if (weighed.weights.size() != classes) {
    return fail(ErrorCode::invalid, "a search needs one weight a class");
  }
  const bool are_positive = std::ranges::all_of(
      weighed.weights, [](double weight) { return weight > 0 && std::isfinite(weight); });
  if (are_positive) return {};
  return fail(ErrorCode::invalid, "weights of classes must be positive numbers");
}

}  // namespace

SearchRecord::SearchRecord(SearchSettings settings, const std::vector<SearchSeries>& all_series,
                           std::size_t classes)
    : settings_(settings), weights_(classes, 1.0), prior_(weights_), builds_(classes) {
  for (const auto& series : all_series) evidence_.emplace_back(series);
}

Status SearchRecord::take(const SearchEvent& event) {
  return std::visit(Overloaded{
                        [&](const Weighed& weighed) -> Status {
                          TW_TRY_VOID(check(weighed, weights_.size(), runs_));
                          weights_ = weighed.weights;
                          learn_prior();
                          return {};
                        },
                        [&](const Measured& measured) { return take_measured(measured); },
                        [&](const MeasuredAlone& measured) { return take_alone(measured); },
                        [&](const Built& built) -> Status {
                          TW_TRY_VOID(check_place(built.candidate));
                          return builds_.take_built(static_cast<Place>(built.candidate));
                        },
                        [&](const Unbuildable& broken) -> Status {
                          TW_TRY_VOID(check_place(broken.candidate));
                          return builds_.take_broken(static_cast<Place>(broken.candidate));
                        },
                        [&](const SetAside& gone) { return take_set_aside(gone); },
                        [&](const SameLibrary& same) { return take_same(same); },
                        [&](const SeriesLost& gone) -> Status {
                          TW_TRY_VOID(check(gone, series_count(), last()));
                          if (!gone.candidate) lost_.insert(gone.series);
                          if (gone.candidate) {
                            unreadable_.emplace(gone.series, static_cast<Place>(*gone.candidate));
                          }
                          return {};
                        },
                        [&](const LevelLost&) -> Status {
                          level_lost_ = true;
                          return {};
                        },
                    },
                    event);
}

Status SearchRecord::check_place(std::size_t candidate) const {
  if (candidate < prior_.size()) return {};
  return fail(ErrorCode::invalid, "search has no class " + std::to_string(candidate) + ", only " +
                                      std::to_string(prior_.size()));
}

Status SearchRecord::take_measured(const Measured& measured) {
  TW_TRY_VOID(check_place(measured.candidate));
  if (measured.reference) TW_TRY_VOID(check_place(*measured.reference));
  const Span span{place_of(measured.reference), static_cast<Place>(measured.candidate)};
  if (span.from == span.to) {
    return fail(ErrorCode::invalid, name_of(span.to) + " was measured against itself");
  }
  for (const Place place : {span.from, span.to}) TW_TRY_VOID(builds_.check_measurable(place));
  for (const auto& [series, effects] : measured.effects) {
    TW_TRY_VOID(check_values(span.to, series, effects));
  }
  for (const auto& [series, readings] : measured.references) {
    TW_TRY_VOID(check_values(span.from, series, readings));
    const auto effects = measured.effects.find(series);
    if (effects == measured.effects.end() || effects->second.size() != readings.size()) {
      return fail(ErrorCode::invalid, "one reading of " + name_of(span.from) + " a pair is needed");
    }
  }
  for (const Place place : {span.from, span.to}) TW_TRY_VOID(builds_.take_measured(place));
  for (const auto& [series, effects] : measured.effects) {
    evidence_[series].add(span, effects);
    runs_ += 2 * static_cast<int>(effects.size());
    const auto readings = measured.references.find(series);
    if (span == whole() && readings != measured.references.end()) {
      evidence_[series].add_level(readings->second, effects);
    }
  }
  return {};
}

Status SearchRecord::take_alone(const MeasuredAlone& measured) {
  TW_TRY_VOID(check_place(measured.candidate));
  const auto place = static_cast<Place>(measured.candidate);
  TW_TRY_VOID(builds_.check_measurable(place));
  for (const auto& [series, readings] : measured.readings) {
    TW_TRY_VOID(check_values(place, series, readings));
    if (!has_level(series)) {
      return fail(ErrorCode::conflict,
                  name_of(place) + " was measured alone, but what the ends read is not known");
    }
  }
  TW_TRY_VOID(builds_.take_measured(place));
  for (const auto& [series, readings] : measured.readings) {
    evidence_[series].add_alone(place, readings);
    runs_ += static_cast<int>(readings.size());
  }
  return {};
}

Status SearchRecord::check_values(Place place, std::size_t series,
                                  const std::vector<double>& values) const {
  if (series >= series_count()) {
    return fail(ErrorCode::invalid, "search has no series " + std::to_string(series));
  }
  for (const double value : values) {
    if (!std::isfinite(value)) {
      return fail(ErrorCode::invalid,
                  "invalid reading of " + name_of(place) + ": must be a finite number");
    }
  }
  return {};
}

Status SearchRecord::take_set_aside(const SetAside& gone) {
  if (gone.side) TW_TRY_VOID(check_place(*gone.side));
  const auto place = place_of(gone.side);
  builds_.take_set_aside(place);
  std::erase_if(unreadable_, [&](const auto& known) { return known.second == place; });
  std::erase_if(same_, [&](const Span& span) { return span.from == place || span.to == place; });
  learn_prior();
  const bool is_end = place == kGoodEnd || place == last();
  for (auto& evidence : evidence_) {
    evidence.forget(place);
    if (is_end) evidence.forget_level();
  }
  return {};
}

bool SearchRecord::can_read(std::size_t series, Place place) const {
  return !builds_.is_broken(place) && !unreadable_.contains({series, place});
}

Status SearchRecord::take_same(const SameLibrary& same) {
  TW_TRY_VOID(check_place(same.later));
  if (same.earlier) TW_TRY_VOID(check_place(*same.earlier));
  const Span span{place_of(same.earlier), static_cast<Place>(same.later)};
  if (span.from >= span.to) {
    return fail(ErrorCode::invalid,
                name_of(span.from) + " is not earlier than " + name_of(span.to));
  }
  same_.push_back(span);
  learn_prior();
  return {};
}

void SearchRecord::learn_prior() {
  prior_ = weights_;
  for (const auto& span : same_) {
    for (Place place = span.from + 1; place <= span.to; ++place) {
      prior_[static_cast<std::size_t>(place)] = 0;
    }
  }
}

}  // namespace torchwatch::bisect
