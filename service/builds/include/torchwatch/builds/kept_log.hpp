#pragma once

#include <filesystem>
#include <string>

namespace torchwatch::builds {

/// Returns what the recipe printed for a commit when it was built last, from the folder in which
/// builds of commits lie; empty where nothing is kept.
std::string kept_log(const std::filesystem::path& folder, const std::string& commit);

}  // namespace torchwatch::builds
