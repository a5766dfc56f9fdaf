#pragma once

#include <set>
#include <utility>
#include <vector>

#include "build_record.hpp"
#include "evidence.hpp"
#include "torchwatch/bisect/culprit_search.hpp"

namespace torchwatch::bisect {

/// What has happened in a search, checked and added up. It knows nothing of what to do next.
class SearchRecord {
 public:
  SearchRecord(SearchSettings, const std::vector<SearchSeries>&, std::size_t classes);

  Status take(const SearchEvent&);

  const SearchSettings& settings() const { return settings_; }
  Place last() const { return static_cast<Place>(prior_.size()) - 1; }
  Span whole() const { return {kGoodEnd, last()}; }

  std::size_t series_count() const { return evidence_.size(); }
  const Evidence& evidence(std::size_t series) const { return evidence_[series]; }
  bool lost(std::size_t series) const { return lost_.contains(series); }
  /// Whether the series can be measured at that place, as far as is known.
  bool can_read(std::size_t series, Place place) const;

  /// Before anything is measured; 0 for a class that has the library of an earlier build.
  double prior(Place place) const { return prior_[static_cast<std::size_t>(place)]; }
  const BuildRecord& builds() const { return builds_; }

  /// Whether a run alone can be compared with what the ends read.
  bool has_level(std::size_t series) const { return !level_lost_ && evidence_[series].has_level(); }

  int runs() const { return runs_; }

 private:
  Status take_measured(const Measured&);
  Status take_alone(const MeasuredAlone&);
  Status check_values(Place, std::size_t series, const std::vector<double>& values) const;
  Status take_set_aside(const SetAside&);
  Status take_same(const SameLibrary&);
  void learn_prior();
  Status check_place(std::size_t candidate) const;

  SearchSettings settings_;
  std::vector<Evidence> evidence_;
  std::vector<double> weights_;  ///< of the classes, before anything was built
  std::vector<Span> same_;       ///< between builds that count and have the same library
  std::vector<double> prior_;
  BuildRecord builds_;
  std::set<std::size_t> lost_;
  std::set<std::pair<std::size_t, Place>> unreadable_;  ///< series that a class does not run
  bool level_lost_ = false;
  int runs_ = 0;
};

}  // namespace torchwatch::bisect
