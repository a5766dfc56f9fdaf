#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/executor/executor.hpp"

namespace torchwatch::orders {

/// Files of the service's machine that a node keeps a copy of, on its own disk.
struct CopiedFolder {
  struct File {
    std::filesystem::path path;  ///< below the root
    std::string sha256;          ///< of its content, as 64 lower-case hex digits
  };
  std::filesystem::path root;
  std::vector<File> files;

  /// What the copy is called: equal for equal names and contents, whatever the root.
  std::string key() const;
};

/// Returns what runs load of the service's machine, each folder once: runners, libraries, and those
/// of CUDA beside them. Commands of somebody's own are not among it. Hashes each file once per
/// process. Errors: those of builds::FileHashes.
Result<std::vector<CopiedFolder>> folders_of(const executor::RunBlock&);

}  // namespace torchwatch::orders
