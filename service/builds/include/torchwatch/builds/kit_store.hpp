#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/builds/tree.hpp"
#include "torchwatch/doors/process.hpp"

namespace torchwatch::builds {

/// A runner compiled against one build's headers; usable with every build of the same headers.
struct Kit {
  std::filesystem::path runner;  ///< the executable
  std::string key;
};

/// Compiles runner kits and keeps them. The key is the hash of the headers reached, the sources,
/// the compiler, the ABI flag and the libraries linked (releases.md 2): swapping libraries under a
/// kit is allowed for equal keys only, as a missing-symbol check is not enough.
class KitStore {
 public:
  struct Settings {
    std::filesystem::path sources;  ///< the checkout that holds models/, runner/, storage/records
    std::filesystem::path folder;   ///< where kits lie
    int jobs = 0;
    std::chrono::seconds time_limit{3600};
    std::size_t output_limit_bytes = 8U << 20U;
  };
  KitStore(Settings, doors::ProcessRunner&);

  /// The kit of `tree` with those workloads, compiled if there is none (a minute or two).
  /// Errors: invalid (an unknown workload, named), unavailable (does not compile: with the
  /// compiler's first error), cancelled.
  Result<Kit> kit_for(const Tree& tree, const std::vector<std::string>& workloads,
                      std::stop_token stop);

  /// Names in models/workloads.txt, in its order.
  Result<std::vector<std::string>> workloads() const;

 private:
  Settings settings_;
  doors::ProcessRunner& processes_;
};

}  // namespace torchwatch::builds
