#pragma once

#include <set>
#include <vector>

#include "evidence.hpp"
#include "torchwatch/bisect/culprit_search.hpp"

namespace torchwatch::bisect {

/// What has happened in a search, checked and added up. It knows nothing of what to do next.
class SearchRecord {
 public:
  SearchRecord(SearchSettings, const std::vector<SearchSeries>&, std::vector<double> prior);

  Status take(const SearchEvent&);

  const SearchSettings& settings() const { return settings_; }
  Place last() const { return static_cast<Place>(prior_.size()) - 1; }
  Span whole() const { return {kGoodEnd, last()}; }

  std::size_t series_count() const { return evidence_.size(); }
  const Evidence& evidence(std::size_t series) const { return evidence_[series]; }
  bool lost(std::size_t series) const { return lost_.contains(series); }

  /// Before anything is measured; 0 for a class that has the library of an earlier build.
  double prior(Place place) const { return prior_[static_cast<std::size_t>(place)]; }
  bool is_built(Place place) const { return place == kGoodEnd || built_.contains(place); }
  bool is_broken(Place place) const { return broken_.contains(place); }
  const std::set<Place>& broken() const { return broken_; }

  /// Whether a run alone can be compared with what the ends read.
  bool has_level(std::size_t series) const { return !level_lost_ && evidence_[series].has_level(); }

  int runs() const { return runs_; }
  /// Classes that were built, or found not to build, since the first measurement.
  int builds() const { return builds_; }
  int build_attempts() const { return builds_ + failed_builds_; }

 private:
  Status take_measured(const Measured&);
  Status take_alone(const MeasuredAlone&);
  Status check_measurable(Place) const;
  Status check_values(Place, std::size_t series, const std::vector<double>& values) const;
  Status note_measured(Place);
  Status take_built(Place);
  Status take_broken(Place);
  Status take_same(const SameLibrary&);
  Status check_place(std::size_t candidate) const;
  bool has_begun() const { return !measured_.empty(); }

  SearchSettings settings_;
  std::vector<Evidence> evidence_;
  std::vector<double> prior_;
  std::set<Place> built_;
  std::set<Place> measured_;
  std::set<Place> broken_;
  std::set<std::size_t> lost_;
  bool level_lost_ = false;
  int runs_ = 0;
  int builds_ = 0;
  int failed_builds_ = 0;
};

}  // namespace torchwatch::bisect
