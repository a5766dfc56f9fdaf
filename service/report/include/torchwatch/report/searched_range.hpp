#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::report {

/// A commit between the ends of a search.
struct RangeCommit {
  std::string sha = {};
  std::string subject = {};
  std::optional<std::size_t> place = {};  ///< of its class; nothing: it cannot change the library
};

/// What a bisection was asked to search.
struct SearchedRange {
  std::vector<Series> series = {};
  std::optional<Preset> preset = {};      ///< of its runs
  std::vector<RangeCommit> commits = {};  ///< oldest first, with the bad end
  std::optional<Error> missing = {};      ///< why there are no commits
};

}  // namespace torchwatch::report
