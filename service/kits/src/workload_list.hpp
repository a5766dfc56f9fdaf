#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::kits {

/// The names in models/workloads.txt, in its order. A line is `name file` or a comment. Errors:
/// not_found, invalid (another line, or one with what cannot stand in a command line: that line).
Result<std::vector<std::string>> read_workload_names(const std::filesystem::path& sources);

/// The names that are asked for, each once, in the list's order. Errors: invalid (none is asked
/// for, or one that is not in the list, with the names near to it).
Result<std::vector<std::string>> choose_workloads(const std::vector<std::string>& list,
                                                  const std::vector<std::string>& names);

}  // namespace torchwatch::kits
