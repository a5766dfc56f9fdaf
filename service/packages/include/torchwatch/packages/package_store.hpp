#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <variant>

#include "torchwatch/builds/tree.hpp"
#include "torchwatch/kits/kit_store.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::packages {

/// What a build's AOTInductor made of one workload's forward, and what making it took.
struct Package {
  std::filesystem::path file;
  std::int64_t bytes = 0;
  std::int64_t compile_time_ns = 0;
  std::int64_t compile_peak = 0;  ///< bytes
};

/// Why there is none: the workload, or the build, is not made for it.
struct Refusal {
  std::string reason;
  bool is_kept = true;  ///< no other try would come to anything else
};

/// Making it has failed, and another try may go well.
struct Failed {
  std::string reason;
  bool is_killed = false;  ///< by somebody else, or memory ran out
};

using Outcome = std::variant<Package, Refusal, Failed>;

/// What is to be compiled, for which run.
struct Wanted {
  const builds::Tree& tree;
  const kits::Kit& kit;
  const protocol::Request& request;
  const std::map<std::string, std::string>& environment;  ///< of the run, by its setting
};

/// Makes packages for the backend aot_inductor and keeps them, and refusals likewise. The key is
/// the hash of the build with its Python part, of the runner, of the program that compiles, of the
/// processor and the compiler that it compiles for and with, and of what decides the graph:
/// workload, preset, batch, precision, environment, and the threads that the package computes with.
/// Weights do not count, as a runner replaces them. Thread-safe; one package is made at a time.
class PackageStore {
 public:
  struct Settings {
    std::filesystem::path program;  ///< deploy/aot_inductor of a checkout
    std::filesystem::path folder;   ///< where packages lie
    std::string python = "python3";
    int threads = 1;                       ///< for a variant that names no number
    std::chrono::seconds time_limit{900};  ///< for one; a workload that takes longer is refused
    std::int64_t memory_limit_bytes = 0;   ///< 0: none
    sandbox::Sandbox sandbox = {};
  };
  PackageStore(Settings, process::ProcessRunner&);

  /// Returns the package, and makes a missing one, which takes a minute; `makes` is called before.
  /// Errors: unavailable (a step could not take place: no python3, no compiler, a full disk,
  /// another process makes packages there), corrupt (a step answered nonsense), cancelled.
  Result<Outcome> package_for(const Wanted&, const std::function<void()>& makes,
                              std::stop_token stop);

 private:
  Settings settings_;
  process::ProcessRunner& processes_;
  std::mutex working_;
};

}  // namespace torchwatch::packages
