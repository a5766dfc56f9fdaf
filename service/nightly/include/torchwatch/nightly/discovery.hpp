#pragma once

#include <stop_token>
#include <string_view>
#include <vector>

#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Why the first nightly of all has no verdict.
inline constexpr std::string_view kOldestNightly =
    "the oldest nightly known: nothing to compare it with";

/// Asks the channel for its builds, brings and checks the new ones, and opens a night for every
/// nightly that has none, against the nightly before it in [source]'s order. The oldest nightly is
/// accepted without a verdict. A damaged build is rejected with its reason and the others go on.
/// Returns the nights that are not finished, oldest first. Errors: unavailable (the channel),
/// cancelled, of storage.
Result<std::vector<storage::NightRow>> discover_nights(Workshop&, std::stop_token stop);

/// The trunk commit of a tree: by the nightly branch's subject where [source] knows the commit,
/// else what the tree itself says.
std::string trunk_commit_of(const Workshop&, const builds::Tree&);

}  // namespace torchwatch::nightly
