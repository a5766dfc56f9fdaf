#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/builds/library_search.hpp"
#include "torchwatch/builds/tree.hpp"

namespace torchwatch::builds {

/// How a runner is linked with a tree's libraries.
struct LinkSet {
  std::vector<std::string> libraries;          ///< "torch", "torch_cpu", "c10", in this order
  std::vector<std::filesystem::path> folders;  ///< where the linker finds what those need
  int cxx11_abi = 1;                           ///< _GLIBCXX_USE_CXX11_ABI
};

/// libtorch is linked wherever everything that the tree's libtorch.so needs is present (it pulls in
/// what a build overrides or adds), and its CPU part alone where it is not: a CUDA build on a
/// machine without CUDA's libraries (planted-days.md). Errors: invalid (libtorch_cpu.so needs what
/// is not here, named; no ABI to be read).
Result<LinkSet> link_set_of(const Tree&, const LibrarySearch&);

}  // namespace torchwatch::builds
