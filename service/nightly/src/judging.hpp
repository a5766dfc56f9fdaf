#pragma once

#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// measured -> judged: verdicts, incidents, the searches they ask for and what is to be said of an
/// incident that is open already, all in one transaction.
Result<storage::NightRow> judge_night(Workshop&, const storage::NightRow&);

}  // namespace torchwatch::nightly
