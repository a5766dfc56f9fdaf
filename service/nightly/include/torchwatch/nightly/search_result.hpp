#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::nightly {

/// An additive effect with its 99 % interval: ln(candidate / reference) for times, bytes otherwise.
struct TargetEffect {
  Target target;
  double effect = 0;
  double low = 0;
  double high = 0;
  int pairs = 0;
  bool operator==(const TargetEffect&) const = default;
};

struct CulpritFinding {
  std::vector<std::string> commits;  ///< several: those that cannot be told apart
  std::string parent;                ///< the nearest earlier commit that builds
  double confidence = 0;
  std::vector<TargetEffect> effects;
  std::string verified;  ///< how, in words
  bool operator==(const CulpritFinding&) const = default;
};

struct SkippedBuild {
  std::string commit;
  std::string reason;
  bool operator==(const SkippedBuild&) const = default;
};

/// What a search ended with, as stored (BisectionRow::answer_json) and printed by `bisect --json`.
struct SearchResult {
  std::string outcome;                   ///< bisect::to_string(Outcome), or "faulted"
  std::vector<CulpritFinding> culprits;  ///< largest share of the change first
  std::vector<std::string> suspects;     ///< the smallest set that holds an unfound culprit
  double suspects_confidence = 0;
  std::vector<TargetEffect> ends;  ///< bad end against good end
  int commits = 0;
  int folded = 0;
  int builds = 0;
  int runs = 0;
  std::vector<SkippedBuild> skipped;
  std::string reason;
  bool operator==(const SearchResult&) const = default;

  /// The finding that stands for all: the largest that is one commit, else the largest; null if
  /// none.
  const CulpritFinding* leading() const;
  /// The commit of the leading finding, if it is one.
  std::optional<std::string> culprit() const;
};

std::string to_json(const SearchResult&);
Result<SearchResult> parse_search_result(std::string_view json);

}  // namespace torchwatch::nightly
