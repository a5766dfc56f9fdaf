#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "kit_folder.hpp"
#include "torchwatch/doors/process.hpp"

namespace torchwatch::builds {

/// Hash over the names and contents of all files that a kit's sources reach, in the tree, in the
/// sources and in the system; LibTorch's version.h left out, as it differs between builds that are
/// otherwise equal (releases.md 2). `folder` is laid out. Takes one to two seconds.
/// Errors: unavailable (a header is missing), cancelled, timed_out.
Result<std::string> hash_of_closure(const std::filesystem::path& folder, const KitPlan&,
                                    std::chrono::seconds time_limit, doors::ProcessRunner&,
                                    std::stop_token stop);

/// The files named in a rule for make, as `g++ -M` writes it.
std::vector<std::string> parse_dependencies(const std::string& rule);

}  // namespace torchwatch::builds
