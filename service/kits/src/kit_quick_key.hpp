#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::kits {

/// The kit that is wanted.
struct KitSpec {
  std::filesystem::path sources;       ///< the checkout that holds runner/, models/, cmake/
  std::filesystem::path tree;          ///< the LibTorch tree
  std::vector<std::string> workloads;  ///< in the list's order
};

/// Identifies what a kit's key is computed from without reading LibTorch's thousands of headers:
/// the include folder behind links, the time and content of the build-hash beside it, the content
/// of everything of ours that a kit may be made of, and `toolchain` (the compiler, and how programs
/// are linked with the tree). Equal quick keys have equal keys; the answer is kept on disk, so that
/// a second kit for an unchanged build takes a fraction of a second. (Builds of planted days link
/// their include folder to the base's: one quick key for all of them.)
Result<std::string> kit_quick_key(const KitSpec&, const std::string& toolchain);

}  // namespace torchwatch::kits
