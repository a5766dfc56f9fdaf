#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/detect/settings.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::bisection {

/// One series whose change is searched, with what is expected of it.
struct SearchedSeries {
  Series series;
  double noise_sd = 0.02;  ///< of one pair's effect, in the effect's unit
  double minimum_effect = 0.034;
  bool operator==(const SearchedSeries&) const = default;
};

/// Everything that a bisection was asked for, stored with it (BisectionRow::spec_json), so that it
/// continues the same after a restart, whatever the configuration says by then.
struct BisectionSpec {
  std::string good;  ///< trunk shas
  std::string bad;
  std::vector<SearchedSeries> series;
  comparison::Plan plan;  ///< how runs are made; its benchmarks are those of the series
  std::vector<std::string> cannot_change;
  storage::Id base = 0;     ///< a build that recipes may start from; 0: none
  std::string base_folder;  ///< that build's folder, as an earlier version stored it
  double confidence = 0.99;
  int builds_max = 60;
  int runs_max = 2000;
  bool verify_by_revert = true;
  std::optional<Dispute> dispute;
  bool operator==(const BisectionSpec&) const = default;
};

/// The smallest effect that a culprit is searched for: half of what detection must find.
/// `baseline_value`: 0 where it is not known.
double minimum_effect(const Series&, double baseline_value, const detect::Settings&);

std::string to_json(const BisectionSpec&);
Result<BisectionSpec> parse_bisection_spec(std::string_view json);

/// Returns the folder of the build that recipes may start from; empty: there is none. The folder of
/// the database may have been moved since the search was opened. Errors: of storage.
Result<std::string> base_folder(storage::Database&, const BisectionSpec&);

}  // namespace torchwatch::bisection
