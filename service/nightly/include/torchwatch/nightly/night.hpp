#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "torchwatch/nightly/plan.hpp"
#include "torchwatch/nightly/series_settings.hpp"
#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// The plan that the configuration and this machine make: [suite], all workloads where it names
/// none, the CUDA configurations where a driver is.
Result<Plan> plan_of_config(Workshop&);

/// Carries a night from whatever state it is in to its end, stage by stage, each stored when it is
/// done. Killed at any moment and called again it ends the same. Errors: unavailable (disk,
/// network, no process can be started: the night stays and goes on later), cancelled, of storage.
Result<storage::NightRow> carry_out_night(Workshop&, storage::NightRow, std::stop_token stop);

/// Carries out those nights and whatever they leave unfinished (see "what follows a nightly" in the
/// README), and calls `after_each`, which may fail, when one has ended. Returns the first ones as
/// they ended, and those of the others that found an incident.
Result<std::vector<storage::NightRow>> carry_out_nights(Workshop&, std::vector<storage::NightRow>,
                                                        const std::function<Status()>& after_each,
                                                        std::stop_token stop);

/// Opens a night of two builds that somebody names. It always measures. `finds_incidents`: with
/// incidents and a search, as a night has; else verdicts only.
Result<storage::NightRow> open_explicit_night(Workshop&, storage::Id candidate,
                                              storage::Id baseline, bool finds_incidents);

}  // namespace torchwatch::nightly
