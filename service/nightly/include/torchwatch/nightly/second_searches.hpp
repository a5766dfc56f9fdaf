#pragma once

#include <stop_token>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/nightly/attend.hpp"

namespace torchwatch::nightly {

/// Carries out searches of incidents whose comparison has ended: those of disputes. With
/// Retry::when_due one that is due, else each once. Comments on the issues what was found. Returns
/// whether there was any. Call in the pipeline's thread. Errors: as attend.
Result<bool> attend_second_searches(comparison::Services&, Retry, std::stop_token stop);

}  // namespace torchwatch::nightly
