#pragma once

#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/site/sources.hpp"

namespace torchwatch::daemon {

/// Makes what pages are made of, but for what only a daemon has: its API and what it does now. The
/// database and the clock must outlive it.
pages::Sources page_sources(const config::Config&, storage::Database&, const platform::Clock&);

}  // namespace torchwatch::daemon
