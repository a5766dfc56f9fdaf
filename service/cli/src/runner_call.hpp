#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::cli {

/// A LibTorch and the program that was compiled against it.
struct Runner {
  builds::Tree tree;
  kits::Kit kit;
};

/// Compiled if there is none yet, with the configured workloads at least.
Result<Runner> prepare_runner(daemon::Application&, const storage::BuildRow&, std::stop_token stop);

/// A process of the runner on its LibTorch.
process::ProcessSpec process_of(const Runner&, std::vector<std::string> arguments,
                                std::filesystem::path folder, std::chrono::milliseconds time_limit);

/// What a command of the runner prints as JSON. Errors: unavailable with its output where it does
/// not end well within the time; corrupt where it prints no JSON.
Result<nlohmann::json> ask_runner(daemon::Application&, const Runner&,
                                  const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds time_limit, std::stop_token stop);

}  // namespace torchwatch::cli
