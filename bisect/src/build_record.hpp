#pragma once

#include <set>
#include <string>

#include "evidence.hpp"

namespace torchwatch::bisect {

/// "the good end", or "class 3".
std::string name_of(Place);

/// Which classes have a build, cannot be built, or were measured. The good end always has a build.
class BuildRecord {
 public:
  /// The last of `class_count` classes, the bad end, has a build before the search.
  explicit BuildRecord(std::size_t class_count);

  bool is_built(Place place) const { return place == kGoodEnd || built_.contains(place); }
  bool is_measured(Place place) const { return measured_.contains(place); }
  bool is_broken(Place place) const { return broken_.contains(place); }
  const std::set<Place>& broken() const { return broken_; }
  /// Classes that were built since the first measurement.
  int count() const { return count_; }
  /// These, and those found not to build.
  int attempts() const { return count_ + failures_; }

  // What happened; the search must have such a class. Errors: conflict with what happened before.
  Status take_built(Place);
  Status take_broken(Place);
  Status take_measured(Place);
  /// The ends count as built all the same.
  void take_set_aside(Place);
  /// Checks that such a measurement can be taken. Errors: conflict.
  Status check_measurable(Place) const;

 private:
  bool has_begun() const { return !measured_.empty(); }

  Place last_;
  std::set<Place> built_;
  std::set<Place> measured_;
  std::set<Place> broken_;
  std::set<Place> counted_;  ///< those of the built ones that are in `count_`
  int count_ = 0;
  int failures_ = 0;
};

}  // namespace torchwatch::bisect
