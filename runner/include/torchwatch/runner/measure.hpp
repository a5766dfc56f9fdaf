#pragma once

#include <exception>
#include <string>

#include "torchwatch/models/registry.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/protocol/result.hpp"

namespace torchwatch::runner {

/// Makes this process quiet and limited, builds the workload that `request` names and runs the pass
/// it asks for. A fresh process measures once. What the workload throws becomes the result.
protocol::RunResult measure(const protocol::Request& request);

/// What is said of a name that no workload of this runner has.
std::string unknown_workload(const std::string& name);

/// What a library's exception says, without the stack that LibTorch appends: it holds addresses and
/// differs from run to run.
std::string reason_of(const std::exception& error);

/// The request's cell in the models' words; `batch` is 0 where the request leaves it open.
models::Setup setup_of(const protocol::Request& request);

/// Why this runner cannot measure `cell` here (a precision, a backend, a batch size that is fixed,
/// no CUDA device); empty: it can.
std::string unsupported_reason(const models::Definition& definition,
                               const protocol::Request& request);

/// Why `request` is not carried out here, now: the above, or too little memory
/// (memory_refusal.hpp). Empty: it is.
std::string refusal(const models::Entry& entry, const protocol::Request& request);

}  // namespace torchwatch::runner
