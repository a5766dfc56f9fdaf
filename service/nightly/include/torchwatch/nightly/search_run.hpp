#pragma once

#include <stop_token>

#include "torchwatch/nightly/search_order.hpp"
#include "torchwatch/nightly/search_result.hpp"
#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Carries an open search to its end: builds commits, measures pairs, applies what happened,
/// stores every step, and ends with an answer in the database. Going on after a kill repeats no
/// build and no run. Without [source] or [build] recipe the answer says so.
/// Errors: unavailable (disk, network: the search stays open and goes on later), cancelled, of
/// storage.
Result<storage::BisectionRow> carry_out_search(Workshop&, const storage::BisectionRow&,
                                               std::stop_token stop);

}  // namespace torchwatch::nightly
