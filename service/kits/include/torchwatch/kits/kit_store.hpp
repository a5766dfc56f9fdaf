#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/builds/tool_environment.hpp"
#include "torchwatch/builds/tree.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::kits {

class KitBuild;

/// A runner compiled against one build's headers; usable with every build of the same headers.
struct Kit {
  std::filesystem::path runner;  ///< the executable
  std::string key;
};

/// Compiles runner kits and keeps them. The key is the hash of the headers reached, the sources,
/// the compiler and every command of the build, so also of the ABI flag and the libraries linked:
/// swapping libraries under a kit is allowed for equal keys only, as a missing-symbol check is not
/// enough. Thread-safe.
class KitStore {
 public:
  struct Settings {
    std::filesystem::path sources;  ///< the checkout that holds runner/, models/, cmake/
    std::filesystem::path folder;   ///< where kits lie
    int jobs = 0;                   ///< 0: as many as there are cores; each takes up to 1.5 GB
    std::chrono::seconds time_limit{3600};  ///< for each tool
    std::size_t output_limit_bytes = 8U << 20U;
    sandbox::Sandbox sandbox = {};
    builds::CompilerCache compiler_cache = builds::CompilerCache::shared;
  };
  KitStore(Settings, process::ProcessRunner&);

  /// Returns a kit of `tree` with at least those workloads; compiles a missing one (a minute or
  /// two). A kit with exactly those is preferred to one with more. Errors: invalid (an unknown
  /// workload, named; a tree that programs cannot be linked with), unavailable (does not compile:
  /// with the first errors and where the whole output is kept), conflict (another process compiles
  /// into the same folder), timed_out, cancelled.
  Result<Kit> kit_for(const builds::Tree& tree, const std::vector<std::string>& workloads,
                      std::stop_token stop);

  /// Names in models/workloads.txt, in its order.
  Result<std::vector<std::string>> workloads() const;

 private:
  using Names = std::vector<std::string>;

  Result<Kit> find_or_compile(const builds::Tree&, const Names& workloads,
                              const std::string& toolchain, const std::stop_token& stop);
  Result<std::optional<Kit>> find_larger(const KitBuild&, const Names& workloads,
                                         const std::stop_token& stop) const;
  Kit kit_of(const std::string& key) const;

  Settings settings_;
  process::ProcessRunner& processes_;
  std::mutex working_;
};

}  // namespace torchwatch::kits
