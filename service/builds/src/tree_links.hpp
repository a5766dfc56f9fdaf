#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "torchwatch/records/error.hpp"

namespace torchwatch::builds {

struct TreeContent {
  std::int64_t bytes = 0;       ///< of its own files, not of what is behind links
  std::set<std::string> links;  ///< names of folders in the cache that its links lead into
};

/// Looks through `tree`, a folder in `cache`. A link that leads to another link leads into the
/// folders of both.
Result<TreeContent> content_of(const std::filesystem::path& tree,
                               const std::filesystem::path& cache);

}  // namespace torchwatch::builds
