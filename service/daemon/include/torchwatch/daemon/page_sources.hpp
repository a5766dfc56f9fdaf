#pragma once

#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/report/trunk_range.hpp"
#include "torchwatch/site/sources.hpp"

namespace torchwatch::daemon {

/// Makes what counts the commits between those of two builds, in the repository of [source]. Copies
/// remember together what was counted (bisect::CommitCounts). Thread-safe.
report::CountCommits commit_counter(const config::Config&);

/// Makes what pages are made of, but for what only a daemon has: its API and what it does now. The
/// database and the clock must outlive it.
pages::Sources page_sources(const config::Config&, storage::Database&, const platform::Clock&,
                            report::CountCommits);

}  // namespace torchwatch::daemon
