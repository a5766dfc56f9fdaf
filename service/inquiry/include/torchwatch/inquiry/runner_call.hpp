#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::inquiry {

/// A LibTorch and the program that was compiled against it.
struct Runner {
  builds::Tree tree;
  kits::Kit kit;
};

/// Compiled if there is none yet, with the configured workloads at least.
Result<Runner> prepare_runner(comparison::Services&, const storage::BuildRow&,
                              std::stop_token stop);

/// Runs the request's pass as a run of a comparison is run (`service/executor`: environment,
/// limits, check of the answer), but stores nothing. Gives the request an attempt of its own. A run
/// that left no usable result is a result that failed. Errors: those of Executor::run.
Result<RunResult> run_unstored(comparison::Services&, const Runner&, protocol::Request,
                               std::stop_token stop);

/// What a command of the runner that measures nothing prints as JSON. Errors: unavailable with its
/// output where it does not end well within the time; corrupt where it prints no JSON.
Result<nlohmann::json> ask_runner(daemon::Application&, const Runner&,
                                  const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds time_limit, std::stop_token stop);

}  // namespace torchwatch::inquiry
