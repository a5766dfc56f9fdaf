#pragma once

#include <map>
#include <memory>
#include <string>

#include "torchwatch/activity/trace.hpp"
#include "torchwatch/models/workload.hpp"
#include "torchwatch/protocol/result.hpp"

namespace torchwatch::runner {

/// The device's recorder, or the reason why it is missing. Null if the pass records nothing.
using Recorder = Result<std::unique_ptr<activity::Trace>>;

/// Begins to record if the request's pass is `profile`. Call it before anything initialises the
/// device. Errors: unavailable (see activity::Trace), also for a run on a CPU.
Recorder begin_recording(const protocol::Request& request,
                         const activity::Libraries& libraries = {});

/// The version of the recorder's library, for the environment.
std::map<std::string, std::string> recorder_facts(const Recorder& recorder);

/// Profiles 10 iterations of the workload, or fewer if the request asks for fewer, and writes into
/// `result` the breakdown of the one with the median wall time, or the reason why it is missing;
/// further figures of it go to the volatile facts ("profile_..."). Its wall time is not a value of
/// `time`, as recording slows it down. Writes the Chrome trace that the request asks for; if that
/// fails, the run fails. Throws what the workload throws.
void profile_iterations(models::Workload& workload, models::Device device,
                        const protocol::Request& request, activity::Trace& trace,
                        protocol::RunResult& result);

/// Writes the Chrome trace that the request asks for of a run on a CPU: the operators of one
/// iteration after the warm-up. If it cannot be written, the run fails. Throws what the workload
/// throws.
void trace_operators(models::Workload& workload, const protocol::Request& request,
                     protocol::RunResult& result);

}  // namespace torchwatch::runner
