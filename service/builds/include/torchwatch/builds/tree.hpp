#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::builds {

/// The file of a tree that names who made it, where that was somebody else: an address.
inline constexpr const char* kOrigin = "origin";

/// The file of a tree with a Python part that tells it from another build's, as deploy/libtorch
/// writes it.
inline constexpr const char* kPythonHash = "python-hash";

/// A LibTorch tree: a folder with lib/, include/, build-version and build-hash (which is written
/// last: a tree without it is not complete).
struct Tree {
  std::filesystem::path folder;
  std::string version;          ///< build-version
  std::string embedded_commit;  ///< build-hash
  /// SHA-256 over names and contents of lib/*.so*, behind links, and of kPythonHash.
  std::string content_hash;
  std::string origin = {};  ///< what kOrigin holds; empty: nobody else made it
  /// While any copy lives, CommitBuilder does not evict the build. Empty for other trees.
  std::shared_ptr<const void> lease = nullptr;
};

/// Reads and checks a tree. Errors: not_found (no folder), invalid (not complete, no
/// lib/libtorch_cpu.so, an ELF of another machine type, a file that is not a library), each saying
/// which file and what to do. Hashing 450 MB takes about a second; unchanged files (device, inode,
/// size, time) are hashed once per process.
Result<Tree> inspect(const std::filesystem::path& folder);

/// Checks a tree likewise, without hashing it. Errors: as inspect.
Status check_tree(const std::filesystem::path& folder);

}  // namespace torchwatch::builds
