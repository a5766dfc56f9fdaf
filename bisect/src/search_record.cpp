#include "search_record.hpp"

#include <cmath>
#include <string>

namespace torchwatch::bisect {
namespace {

std::string name(Place place) {
  return place == kGoodEnd ? "the good end" : "class " + std::to_string(place);
}

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

}  // namespace

SearchRecord::SearchRecord(SearchSettings settings, const std::vector<SearchTarget>& targets,
                           std::vector<double> prior)
    : settings_(settings), prior_(std::move(prior)) {
  for (const auto& target : targets) evidence_.emplace_back(target);
  if (!prior_.empty()) built_.insert(last());  // the bad end is there before the search
}

Status SearchRecord::take(const SearchEvent& event) {
  return std::visit(Overloaded{
                        [&](const Measured& measured) { return take_measured(measured); },
                        [&](const Built& built) -> Status {
                          TW_TRY_VOID(check_place(built.candidate));
                          return take_built(static_cast<Place>(built.candidate));
                        },
                        [&](const Unbuildable& broken) -> Status {
                          TW_TRY_VOID(check_place(broken.candidate));
                          return take_broken(static_cast<Place>(broken.candidate));
                        },
                        [&](const SameLibrary& same) { return take_same(same); },
                        [&](const TargetLost& gone) -> Status {
                          if (gone.target >= targets()) {
                            return fail(ErrorCode::invalid,
                                        "search has no target " + std::to_string(gone.target));
                          }
                          lost_.insert(gone.target);
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
    return fail(ErrorCode::invalid, name(span.to) + " was measured against itself");
  }
  for (const Place place : {span.from, span.to}) {
    if (is_broken(place)) {
      return fail(ErrorCode::conflict, name(place) + " was measured but could not be built");
    }
  }
  for (const auto& [target, effects] : measured.effects) {
    if (target >= targets()) {
      return fail(ErrorCode::invalid, "search has no target " + std::to_string(target));
    }
    for (const double effect : effects) {
      if (!std::isfinite(effect)) {
        return fail(ErrorCode::invalid, "an effect measured at " + name(span.to) + " is no number");
      }
    }
  }
  for (const Place place : {span.from, span.to}) {
    if (place == kGoodEnd) continue;
    TW_TRY_VOID(take_built(place));
    measured_.insert(place);
  }
  for (const auto& [target, effects] : measured.effects) {
    evidence_[target].add(span, effects);
    runs_ += 2 * static_cast<int>(effects.size());
  }
  return {};
}

Status SearchRecord::take_built(Place place) {
  if (is_broken(place)) {
    return fail(ErrorCode::conflict, name(place) + " has a build after it could not be built");
  }
  const bool is_new = built_.insert(place).second;
  if (is_new && has_begun()) ++builds_;
  return {};
}

Status SearchRecord::take_broken(Place place) {
  if (place == last()) {
    return fail(ErrorCode::conflict, name(place) + " is the bad end, which has a build");
  }
  if (measured_.contains(place)) {
    return fail(ErrorCode::conflict, name(place) + " could not be built after it was measured");
  }
  if (built_.erase(place) > 0) --builds_;
  const bool is_new = broken_.insert(place).second;
  if (is_new && has_begun()) ++failed_builds_;
  return {};
}

Status SearchRecord::take_same(const SameLibrary& same) {
  TW_TRY_VOID(check_place(same.later));
  if (same.earlier) TW_TRY_VOID(check_place(*same.earlier));
  const Span span{place_of(same.earlier), static_cast<Place>(same.later)};
  if (span.from >= span.to) {
    return fail(ErrorCode::invalid, name(span.from) + " is not earlier than " + name(span.to));
  }
  for (Place place = span.from + 1; place <= span.to; ++place) {
    prior_[static_cast<std::size_t>(place)] = 0;
  }
  return {};
}

}  // namespace torchwatch::bisect
