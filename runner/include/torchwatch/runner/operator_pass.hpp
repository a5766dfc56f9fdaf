#pragma once

#include "torchwatch/models/workload.hpp"
#include "torchwatch/protocol/result.hpp"
#include "torchwatch/runner/interleave.hpp"

namespace torchwatch::runner {

/// Watches the operators of the workload's iterations and writes into `result` what each takes of
/// an iteration: times are the median over samples, which are taken like those of the timing pass,
/// with a partner alternately; bytes are exact, from iterations after that. Each sample is of
/// iterations without the watch, then with it; the volatile facts `operators_iteration_ns` and
/// `operators_watched_ns` hold the medians of both, so what watching costs. The operator that the
/// request names has its self time of each sample stated, and their median as the time. Throws what
/// the workload throws; models::UnsupportedSetup, where an iteration does not call that operator.
void watch_operators(models::Workload& workload, const protocol::Request& request,
                     Interleave interleave, protocol::RunResult& result);

}  // namespace torchwatch::runner
