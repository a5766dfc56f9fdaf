#pragma once

#include <stop_token>
#include <string>

#include "torchwatch/comparison/services.hpp"

namespace torchwatch::nightly {

/// Fetches what is new in [source]; does nothing where that is not an address. Errors: unavailable,
/// whatever is wrong with the server; cancelled.
Status fetch_source(comparison::Services&, std::stop_token stop);

/// Returns the trunk commit that a revision of [source] names. Where [source] is an address and its
/// clone lacks the commit, what is new is fetched first, then the commit alone. Errors: not_found,
/// invalid: there is no such commit; those of `fetch_source`.
Result<std::string> find_trunk_commit(comparison::Services&, const std::string& revision,
                                      std::stop_token stop = {});

/// Returns the trunk commit of a tree: the one in the subject of its commit on the nightly branch
/// if [source] has that commit, else the commit embedded in the tree. What the clone lacks of the
/// two is fetched; what cannot be had is named in the progress.
std::string trunk_commit_of(const comparison::Services&, const builds::Tree&,
                            std::stop_token stop = {});

}  // namespace torchwatch::nightly
