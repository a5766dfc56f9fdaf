#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/builds/tree.hpp"
#include "torchwatch/doors/process.hpp"

namespace torchwatch::builds {

struct KitPlan;

/// A runner compiled against one build's headers; usable with every build of the same headers.
struct Kit {
  std::filesystem::path runner;  ///< the executable
  std::string key;
};

/// Compiles runner kits and keeps them. The key is the hash of the headers reached, the sources,
/// the compiler, the ABI flag and the libraries linked (releases.md 2): swapping libraries under a
/// kit is allowed for equal keys only, as a missing-symbol check is not enough. Thread-safe.
class KitStore {
 public:
  struct Settings {
    std::filesystem::path sources;  ///< the checkout that holds models/, runner/, storage/records
    std::filesystem::path folder;   ///< where kits lie
    int jobs = 0;                   ///< 0: as many as there are cores; each takes up to 1.5 GB
    std::chrono::seconds time_limit{3600};
    std::size_t output_limit_bytes = 8U << 20U;
  };
  KitStore(Settings, doors::ProcessRunner&);

  /// A kit of `tree` with those workloads at least, compiled if there is none (a minute or two).
  /// Of several the one with just those; so a search takes its night's. Errors:
  /// invalid (an unknown workload, named), unavailable (does not compile: with the compiler's
  /// first error), conflict (another process compiles into the same folder), timed_out, cancelled.
  Result<Kit> kit_for(const Tree& tree, const std::vector<std::string>& workloads,
                      std::stop_token stop);

  /// Names in models/workloads.txt, in its order.
  Result<std::vector<std::string>> workloads() const;

 private:
  Result<KitPlan> plan_for(const Tree&, const std::vector<std::string>& workloads) const;
  Result<std::string> compiler_version(std::stop_token stop) const;
  Result<std::string> find_key(const KitPlan&, const std::string& compiler,
                               std::stop_token stop) const;
  Result<std::optional<Kit>> find_larger(const Tree&, const KitPlan&, const std::string& compiler,
                                         std::stop_token stop) const;
  Status compile(const KitPlan&, const Kit&, std::stop_token stop) const;
  Kit kit_of(const KitPlan&, const std::string& key) const;

  Settings settings_;
  doors::ProcessRunner& processes_;
  std::mutex working_;
};

}  // namespace torchwatch::builds
