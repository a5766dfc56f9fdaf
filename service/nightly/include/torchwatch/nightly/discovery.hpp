#pragma once

#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/detect/settings.hpp"
#include "torchwatch/nightly/attend.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Why the oldest nightly has no verdict.
inline constexpr std::string_view kOldestNightly =
    "the oldest nightly known: nothing to compare it with";

/// Returns whether what takes disk, network and processor may be begun. Errors: of storage.
using MayFetch = std::function<Result<bool>()>;

/// Lists the channel's builds, fetches and checks the new ones, and opens a comparison of every new
/// nightly with the nightly before it in the order of [source]; one behind a nightly that arrived
/// late is compared with that, too. The oldest nightly is accepted without a verdict. A damaged
/// build is rejected with the reason, one that cannot be had now is put off, and the others
/// continue. Asks `may_fetch` before [source] is brought up to date, and before each build is
/// fetched, unpacked or checked; what may not be is left for the next look. An empty one always
/// may. Returns the unfinished comparisons, the oldest first. Errors: of the channel's list;
/// cancelled; of storage.
Result<std::vector<storage::ComparisonRow>> discover_comparisons(comparison::Services&,
                                                                 std::stop_token stop,
                                                                 Retry = Retry::now,
                                                                 const MayFetch& may_fetch = {});

/// Returns by which settings the next nightly's comparison will judge a series: its false incidents
/// share the budget with as many series as the newest judged nightly's. Errors: of storage.
Result<detect::Settings> settings_of_next(const config::Config&, storage::Database&, const Series&);

/// How the reason begins for which a build cannot be measured while its files are gone: the mark
/// goes when they are back.
inline constexpr std::string_view kFilesGone = "its files are gone: ";

/// Fetches a nightly or a release again whose files were removed from the cache; does nothing where
/// they are there. Errors: of the channel; conflict, when it was published again with other
/// content; of storage.
Status restore_tree(comparison::Services&, const storage::BuildRow&, std::stop_token stop);

}  // namespace torchwatch::nightly
