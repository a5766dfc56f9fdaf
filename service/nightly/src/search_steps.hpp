#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "search_measuring.hpp"
#include "torchwatch/bisect/candidate_commits.hpp"
#include "torchwatch/bisect/culprit_search.hpp"
#include "torchwatch/nightly/search_log.hpp"
#include "torchwatch/nightly/search_order.hpp"
#include "torchwatch/nightly/search_result.hpp"
#include "torchwatch/nightly/subjects.hpp"

namespace torchwatch::nightly {

/// The steps of one search: each does one thing the search asks for and stores what came of it.
class SearchSteps {
 public:
  SearchSteps(Workshop&, const storage::BisectionRow&, const SearchOrder&);

  /// Reads the range from git and replays the stored events. Errors: invalid, not_found (the range
  /// cannot be searched); of storage.
  Status prepare();
  bool is_over() const { return result_.has_value(); }
  Status take_one(std::stop_token stop);
  const SearchResult& result() const { return *result_; }

 private:
  Status measure(const bisect::Measure&, std::stop_token);
  Status measure_pairs(const bisect::Measure&, std::stop_token);
  Status measure_alone(const bisect::Measure&, std::stop_token);
  /// Of the measurement that comes next, in the slots of its runs.
  std::string name_of_next() const;
  /// What is to be built before a measurement, and what several builders make with it.
  std::vector<bisect::Reference> builds_for(const bisect::Measure&) const;
  Status build(const std::vector<bisect::Reference>&, std::stop_token);
  /// Into the cache, where they are found one after the other.
  Status build_at_once(const std::vector<bisect::Reference>&, std::stop_token);
  Result<std::optional<builds::Tree>> base_of_builds() const;
  /// A side's subject; builds and logs it if it is new. None: it cannot be built (logged, or the
  /// search is over).
  Result<std::optional<Subject>> subject(bisect::Reference, std::stop_token);
  Status note_built(std::size_t candidate, const Subject&);
  Status note_unbuildable(bisect::Reference, const builds::Unbuildable&);
  Status note_equal_libraries();
  Status note_failure(const bisect::Measure&, const SideFailed&);
  Status answer(const bisect::Answer&, std::stop_token);
  Status check_revert(std::size_t candidate, const bisect::Culprit&, std::stop_token);
  Status log_revert(std::size_t candidate, const std::string& reverted, const bisect::Culprit&,
                    std::stop_token);
  const RevertCheck* revert_of(std::size_t candidate) const;
  void give_up(const std::string& outcome, const std::string& reason);

  SearchResult make_result(const bisect::Answer&) const;
  CulpritFinding make_finding(const bisect::Culprit&) const;
  std::string how_verified(const bisect::Culprit&) const;
  std::vector<TargetEffect> make_effects(const std::vector<bisect::Effect>&) const;
  std::vector<SkippedBuild> skipped(const std::vector<std::size_t>& classes) const;
  const std::string& commit_of(std::size_t candidate) const;
  std::string sha_of(bisect::Reference) const;

  Workshop& workshop_;
  storage::BisectionRow row_;
  const SearchOrder& order_;
  SearchLog log_;
  SearchMeasuring measuring_;
  Subjects subjects_;
  std::vector<bisect::Commit> range_;
  bisect::FoldedRange folded_;
  std::optional<bisect::CulpritSearch> search_;
  std::map<bisect::Reference, Subject> built_;
  std::optional<SearchResult> result_;
};

}  // namespace torchwatch::nightly
