#pragma once

#include <string>

#include "torchwatch/torch/operator_calls.hpp"

namespace torchwatch::runner {

/// Writes calls in the format of Chrome traces, which ui.perfetto.dev opens: the work under its
/// name, and below it a row a thread.
std::string chrome_trace(const OperatorCalls&, const std::string& work_name);

}  // namespace torchwatch::runner
