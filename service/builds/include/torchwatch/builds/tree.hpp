#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::builds {

/// What a LibTorch tree says of itself: `folder`/lib, include, build-version, build-hash (which is
/// written last: a tree without it is not complete).
struct Tree {
  std::filesystem::path folder;
  std::string version;          ///< build-version
  std::string embedded_commit;  ///< build-hash
  std::string content_hash;     ///< SHA-256 over names and contents of lib/*.so*, behind links
  bool has_cuda = false;        ///< its libtorch.so needs libtorch_cuda.so
  /// While any copy of it lives, CommitBuilder does not evict the build. Empty for other trees.
  std::shared_ptr<const void> lease = nullptr;
};

/// Reads and checks a tree. Errors: not_found (no folder), invalid (not complete, no
/// lib/libtorch_cpu.so, an ELF of another machine type, a library that is none), each saying which
/// file and what to do. Hashing 450 MB takes about a second; unchanged files (device, inode, size,
/// time) are hashed once a process.
Result<Tree> inspect(const std::filesystem::path& folder);

}  // namespace torchwatch::builds
