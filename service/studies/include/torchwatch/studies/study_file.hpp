#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/comparison/selection.hpp"
#include "torchwatch/storage/study_store.hpp"

namespace torchwatch::studies {

/// Two settings that are compared, and on what.
struct Pair {
  storage::StudyRow settings = {};       ///< with the pair's name, which is unique in its file
  comparison::Selection selection = {};  ///< what is empty is as [suite] has it
  int line = 0;                          ///< of the file
};

/// What a study's file says.
struct StudyFile {
  std::string title = {};
  std::string about = {};  ///< what is asked, for people
  std::vector<Pair> pairs = {};
};

/// Reads the text of a study's file. `name` is how errors call it. Errors: invalid, naming file,
/// line, key and what is allowed: not TOML, a key that is not known, missing or of the wrong type,
/// no pair, a name that two pairs have, a setting that cannot be read, two that are equal.
Result<StudyFile> parse_study_file(std::string_view text, const std::string& name);

/// Reads a study's file. Errors: as parse_study_file; not_found; unavailable; invalid, where it has
/// more than 1 MiB.
Result<StudyFile> read_study_file(const std::filesystem::path&);

}  // namespace torchwatch::studies
