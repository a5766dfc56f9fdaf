#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "torchwatch/records/error.hpp"

namespace torchwatch::kits {

/// What a kit has counted of its workloads lies beside it in this file.
inline constexpr const char* kCountedFile = "workloads.json";

/// Returns whether a runner's answer lists workloads.
bool lists_workloads(const nlohmann::json&);

/// What is known of the whole suite without a build, from the sources: name, domain, task, batch
/// sizes, and the configurations with the reason why one is refused (models/suite.json). The
/// members that only a kit can count are null. Errors: not_found, corrupt.
Result<nlohmann::json> read_suite(const std::filesystem::path& sources);

/// Returns what the newest kit in the folder that counted its workloads has counted; null if none
/// has.
nlohmann::json counted_by_kits(const std::filesystem::path& folder);

/// Puts what was counted beside what the sources say.
void add_counted(nlohmann::json& suite, const nlohmann::json& counted);

}  // namespace torchwatch::kits
