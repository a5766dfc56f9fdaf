#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/documents/setting.hpp"
#include "torchwatch/storage/study_store.hpp"

namespace torchwatch::comparison {

/// The settings of both sides of a comparison: of a study, else both the default.
struct Sides {
  Setting baseline = {};
  Setting candidate = {};
};

/// Reads two settings. Errors: those of parse_setting; invalid, when both say the same.
Result<Sides> parse_sides(const std::string& baseline, const std::string& candidate);

/// Returns the settings of a stored comparison. Errors: of storage; corrupt.
Result<Sides> sides_of(storage::Database&, storage::Id comparison);

/// Returns "threads=2 against threads=1", behind the name of the study where it has one.
std::string in_words(const storage::StudyRow&);

/// Returns the member "settings" of a request for a study: "baseline", "candidate", and "name"
/// where the study has one.
nlohmann::json settings_json(const storage::StudyRow&);

/// Reads that member of a request's body, with the settings as they are stored; nothing where it
/// is absent. Errors: those of parse_sides; invalid, naming what is missing or has the wrong type.
Result<std::optional<storage::StudyRow>> parse_study(const nlohmann::json& body);

/// Returns the names with those of the workloads that a side runs in the place of others.
std::vector<std::string> with_alternatives(const Sides&, std::vector<std::string> workloads);

}  // namespace torchwatch::comparison
