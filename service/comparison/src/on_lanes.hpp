#pragma once

#include "block_executor.hpp"

namespace torchwatch::comparison {

/// What the lanes of a comparison share.
struct SharedByLanes {
  RunRecorder& recorder;
  Schedule& schedule;
  BlockExecutor& blocks;
};

/// Makes all runs that the schedule still needs, on all lanes of the services at once. A lane that
/// loses its node loses the block in flight alone: others continue what it had begun. Errors: those
/// of `measure`.
Status measure_on_lanes(Services&, const Comparison&, const SharedByLanes&, std::stop_token stop);

}  // namespace torchwatch::comparison
