#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/executor/executor.hpp"
#include "torchwatch/platform/random.hpp"

namespace torchwatch::conformance {

/// What is verified: a command, the build that it is to measure, and what it is asked for.
struct Subject {
  std::string name = "workload";
  executor::ExternalCommand command;
  std::filesystem::path libraries;  ///< the build's lib/
  Configuration configuration;
  std::vector<Metric> metrics;
  std::chrono::milliseconds time_limit{120'000};
  std::int64_t memory_limit_bytes = 0;  ///< resident bytes of its processes; 0: no limit
};

/// One check of a command.
struct Finding {
  std::string check;
  bool holds = false;
  std::string asked;
  std::string came;
  std::string remedy;  ///< what to do; empty where it holds
};

/// Asks the command all that a comparison may ask, and a little more, run by run. The checks end
/// with the first one where nothing that follows could be answered. `scratch`: a folder for the
/// pipes of a pair. `heard`: told of each finding at once. Errors: those of Executor::run.
Result<std::vector<Finding>> verify(executor::Executor&, const Subject&, platform::Random&,
                                    const std::filesystem::path& scratch, std::stop_token stop,
                                    const std::function<void(const Finding&)>& heard = {});

}  // namespace torchwatch::conformance
