#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "recorded_search.hpp"
#include "torchwatch/comparison/build_preparer.hpp"
#include "torchwatch/documents/bisection.hpp"

namespace torchwatch::bisection {

/// Why a bisection cannot continue.
struct EarlyEnd {
  BisectionOutcome outcome = BisectionOutcome::faulted;
  std::string reason;
};

/// Builds the commits that a search asks for, and records which do not build, and which have the
/// library of another.
class BisectionBuilder {
 public:
  BisectionBuilder(comparison::Services&, const BisectionSpec&, RecordedSearch&);

  /// Records the commits between the ends of which the recipe has made a build already: reading
  /// them costs none. To be called before anything is measured. Errors: of storage.
  Status take_what_is_at_hand();
  /// Returns what is to be built before the measurement, and what several builders make with it.
  std::vector<bisect::Reference> missing_for(const bisect::Measure&) const;
  /// Builds and records them. Returns why the bisection ends if an end of the range does not build
  /// or the recipe keeps failing. Errors: those of the recipe, of storage; cancelled.
  Result<std::optional<EarlyEnd>> build(const std::vector<bisect::Reference>&,
                                        std::stop_token stop);
  /// Sets builds aside that somebody else has made, unless the two sides have one origin. Returns
  /// whether it did: they are to be built anew, by the recipe.
  Result<bool> set_unlike_aside(bisect::Reference side, bisect::Reference beside);
  /// Builds the bad end by the recipe, where somebody else has made the one that is measured.
  Result<std::variant<comparison::MeasurableBuild, builds::Unbuildable>> bad_end_of_recipe(
      std::stop_token stop);
  /// Builds a commit that is not part of the range, beginning with a build that is.
  Result<std::variant<comparison::MeasurableBuild, builds::Unbuildable>> build_beside(
      const std::string& commit, bisect::Reference beside, std::stop_token stop);
  /// Returns a side that was built.
  const comparison::MeasurableBuild& at(bisect::Reference side) const { return built_.at(side); }

 private:
  Status fill_cache(const std::vector<bisect::Reference>&, builds::Maker, std::stop_token);
  Status announce(const std::string& sha, builds::Maker);
  Status record_built(bisect::Reference, const builds::Tree&);
  Result<std::optional<EarlyEnd>> build_one(bisect::Reference, std::stop_token);
  Result<std::optional<builds::Tree>> base() const;
  Result<std::optional<EarlyEnd>> record_unbuildable(bisect::Reference, const builds::Unbuildable&);
  Status record_equal_libraries();

  comparison::Services& services_;
  const BisectionSpec& spec_;
  RecordedSearch& recorded_;
  comparison::BuildPreparer preparer_;
  std::map<bisect::Reference, comparison::MeasurableBuild> built_;
};

}  // namespace torchwatch::bisection
