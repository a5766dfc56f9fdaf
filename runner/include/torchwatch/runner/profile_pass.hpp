#pragma once

#include <map>
#include <memory>
#include <string>

#include "torchwatch/activity/trace.hpp"
#include "torchwatch/models/workload.hpp"
#include "torchwatch/protocol/result.hpp"

namespace torchwatch::runner {

/// What records the device, or why nothing does. Null: nothing was to be recorded.
using Recorder = Result<std::unique_ptr<activity::Trace>>;

/// Begins to record where the request is one of the profile pass. To be called before anything sets
/// the device up. Errors: unavailable (see activity::Trace), also for a run on a CPU.
Recorder begin_recording(const protocol::Request& request,
                         const activity::Libraries& libraries = {});

/// The recorder's library, for the environment.
std::map<std::string, std::string> recorder_facts(const Recorder& recorder);

/// Profiles the workload, 10 iterations or as many as are asked for if that is less, and states
/// into `result` the breakdown of the one with the median wall time or the reason why there is
/// none; under volatile facts ("profile_...") what else is known of it. Its wall time is no value
/// of `time`: recording slows it down. Writes the Chrome trace that the request asks for; where
/// that fails, so does the run. Throws what the workload throws.
void profile_iterations(models::Workload& workload, models::Device device,
                        const protocol::Request& request, activity::Trace& trace,
                        protocol::RunResult& result);

}  // namespace torchwatch::runner
