#pragma once

#include <exception>
#include <string>

#include "torchwatch/models/memory_estimate.hpp"
#include "torchwatch/models/workload.hpp"

namespace torchwatch::models {

/// What went wrong in LibTorch, without stacks and addresses: the first line, or that of the
/// operator that failed in a graph.
std::string first_line_of(const std::exception&);

/// Calls; what LibTorch throws becomes an UnsupportedSetup that begins with `what`, but for memory
/// that has run out, which another batch may leave.
template <typename Call>
auto or_refusal(const char* what, const Call& call) {
  try {
    return call();
  } catch (const UnsupportedSetup&) {
    throw;
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) throw;
    throw UnsupportedSetup(std::string(what) + ": " + first_line_of(error));
  }
}

}  // namespace torchwatch::models
