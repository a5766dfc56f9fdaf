#pragma once

#include <exception>
#include <string>

#include "torchwatch/models/registry.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/protocol/result.hpp"

namespace torchwatch::runner {

/// Isolates and limits this process, builds the workload of `request` and runs its pass. A fresh
/// process measures once. An exception of the workload becomes the result.
protocol::RunResult measure(const protocol::Request& request);

/// The message for a name that no workload of this runner has.
std::string unknown_workload(const std::string& name);

/// The text of a library's exception without the stack that LibTorch appends: it holds addresses
/// and differs from run to run.
std::string reason_of(const std::exception& error);

/// The request's benchmark in the models' vocabulary; `batch` is 0 if the request leaves it open.
models::Setup setup_of(const protocol::Request& request);

/// The reason why this runner cannot measure the request's benchmark here (precision, backend, a
/// fixed batch size, no CUDA device); empty if it can.
std::string unsupported_reason(const models::Definition& definition,
                               const protocol::Request& request);

}  // namespace torchwatch::runner
