#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace torchwatch::detect {

/// One workload's runs in the order in which they were recorded: each the median of a process.
using RecordedRuns = std::map<std::string, std::vector<double>>;

/// The whole recording beside the checkout; may not be there.
std::filesystem::path full_recording();

/// The part of it that belongs to the repository: three workloads of twelve.
std::filesystem::path excerpt();

/// Reads either: columns night, process, workload and ns, by the header, in any order; rows of one
/// process become their median. Empty if the file cannot be read.
RecordedRuns read_recording(const std::filesystem::path&);

}  // namespace torchwatch::detect
