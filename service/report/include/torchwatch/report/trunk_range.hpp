#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Returns how many commits of the trunk come after one up to another; nothing where that is not
/// known. Must be quick: lists ask for each entry.
using CountCommits =
    std::function<std::optional<std::int64_t>(const std::string& from, const std::string& to)>;

/// What lies between the two builds of a comparison.
struct TrunkRange {
  std::string from = {};  ///< the baseline's commit; empty: not known
  std::string to = {};    ///< the candidate's
  std::optional<std::int64_t> commits = {};
};

TrunkRange trunk_range_of(const storage::BuildRow& from, const storage::BuildRow& to,
                          const CountCommits&);

}  // namespace torchwatch::report
